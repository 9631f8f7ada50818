# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Which layer pays off for this agent, on this machine?
#
# **What you'll do:** replay the first steps of one agent's recorded run under several arms, and compare them step by
# step.
#
# **What you'll learn:** what prefix caching and speculation each take off a turn, why, and when a ratio can be
# believed.
#
# **What you'll need:** the environment of `make setup` and the model (`labkit models fetch smollm2-135m-instruct`). Two
# cores and about six minutes with the values below; or a run that is there already (`ENGINE = "stored"`), and no time
# at all.

# %% tags=["parameters"]
PROFILE = "cpu-smollm2"
RECORDING = "ranks-that-jump-live"
STEPS = 8
ARMS = ["base", "prefix", "spec", "prefix+spec"]
ENGINE = "live"  # "stored": open RUN, measure nothing
RUN = "latest"

# %%
import pandas as pd

from labkit.analysis.arms import arm_table
from labkit.core.arms import arm_named
from labkit.engines.plan import make_plan
from labkit.engines.plan_diff import diff
from labkit.engines.profiles import load_profile
from labkit.experiments.waiting import run_and_wait
from labkit.plots.acceptance import acceptance_by_kind_figure, acceptance_by_kind_info
from labkit.plots.arms_overview import arms_overview_figure, arms_overview_info
from labkit.plots.per_turn import per_turn_figure, per_turn_info
from labkit.plots.tokens_per_turn import tokens_per_turn_figure, tokens_per_turn_info
from labkit.plots.wall_ledger import finding, wall_ledger_figure, wall_ledger_info
from labkit.store.runs import RunStore

# %% [markdown]
# ## What differs between the arms?
#
# An *arm* is one setting of three layers. Nothing else may differ between arms, or the comparison is worth nothing. A
# *plan* is the exact command lines and environment that a profile and an arm mean. Here is all that differs from
# `base`, one column per arm. A dash: no such setting. Empty: no difference there, or no such process (a row such as
# `engine / prefill` compares base's engine with one half of an arm that is split).

# %%
profile = load_profile(PROFILE)
plans = {arm: make_plan(profile, arm_named(arm)) for arm in ["base", *ARMS]}
differences = [
    {"process": one.role, "setting": one.setting, "base": one.left or "–", arm: one.right or "–"}
    for arm, plan in plans.items()
    for one in diff(plans["base"], plan)
]
rows = pd.DataFrame(differences, columns=["process", "setting", *plans], dtype="object")
rows.groupby(["process", "setting"], sort=False).first().fillna("")

# %% [markdown]
# For `base` the plan shows the server's own flag, `--no-enable-prefix-caching`. The quick run below does not start such
# a server: to save a start, it takes the one of `prefix` and switches caching off by a fresh cache salt on every
# request. `labkit run quick --strict` takes the flag.

# %% [markdown]
# ## Measure
#
# Every arm gets the same requests in the same order, with the recorded history. The run is a process of its own and
# writes a folder as it goes; interrupting this cell stops it and keeps what it has.

# %%
if ENGINE == "live":
    question = {"profile": PROFILE, "recording": RECORDING, "steps": STEPS, "arms": ARMS}
    run = run_and_wait("quick", question)
else:
    run = RunStore().open(RUN)

# %%
steps, chunks = run.steps(), run.chunks()
assert len(steps), run.info.note
run.info.state, run.info.asked["arms"], run.folder.name

# %% [markdown]
# ## Which arm is faster?
#
# A ratio is paired: base's seconds over the arm's, on the steps that both finished. `n` is the number of such pairs,
# and below five the figure says that they are too few to tell.

# %%
table = arm_table(steps, chunks)
table[["arm", "switched_by", "n_steps", "n_failed", "e2e_s", "ratio_to_base", "n_pairs", "too_few"]]

# %%
arms_overview_figure(arms_overview_info(table, run.info.asked["arms"]))

# %% [markdown]
# ## What did the seconds go to?
#
# A reply has two parts that a client can see: until the first token (queue and prefill), and after it (decode).

# %%
wall_ledger_figure(wall_ledger_info(steps))

# %% [markdown]
# **Surprise, or not?** Predict before you look. An agent reads more than it writes, so `base` should spend a large part
# of its seconds before the first token; prefix caching can shorten that part alone, and speculation only the other one.
# If so, `spec` takes about 100 % of base's time to the first token, however fast its decode is. Here is what this run
# says; where it contradicts the prediction, believe the run, and look for the cause in the turns below.

# %%
print(finding(wall_ledger_info(steps)))

# %% [markdown]
# ## How does it grow with the conversation?
#
# Now vary one thing: the turn. Each turn appends to the prompt of the one before.

# %%
per_turn_figure(per_turn_info(steps, "ttft"))

# %%
per_turn_figure(per_turn_info(steps, "e2e"))

# %% [markdown]
# Without the cache the time to first token should follow the length of the whole prompt; with it, only what is new.
#
# ## How much of the cache's promise is kept?
#
# The dotted ceiling is what an infinite cache of whole blocks could have served of these very requests. A bar that
# reaches it leaves nothing to gain; a gap is eviction, or a reply that was not the recorded one.

# %%
tokens_per_turn_figure(tokens_per_turn_info(steps, run.info.asked["arms"][-1]))

# %%
table[["arm", "prompt_computed", "prompt_cached", "hit_rate", "hit_ceiling"]]

# %% [markdown]
# ## Where do drafts get accepted?
#
# Speculation pays by the words: text that was seen before is guessed well, fresh text is not. The rate is accepted
# over proposed draft tokens, summed over the steps of a kind.

# %%
acceptance_by_kind_figure(acceptance_by_kind_info(steps))

# %% [markdown]
# ## In practice
#
# - `switched_by` says how caching was turned off: `salt` is a fresh cache salt on every request, on the engine that
#   `prefix` uses, too; the strict way is the server's own flag (`labkit run quick --strict`), and takes an engine
#   start more.
# - One pass over a few steps is a first look. For a result: `labkit replay RECORDING --repeats 3 --seed 1
#   --drift-check`.
# - A small model repeats itself, which flatters speculation. Ask the same of your model before you believe it.
# - `run.folder` is the whole run: `labkit show` prints it again, `labkit export` hands its tables to other tools.
