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
# step: the lab in ten cells.
#
# **What you'll learn:** which part of a call prefix caching and speculation each shorten, why, and when a ratio can be
# believed.
#
# **What you'll need:** the environment of `make setup`, the model (`labkit models fetch smollm2-135m-instruct`) and
# about three minutes on two cores; or nothing: `ENGINE = "stored"` opens a run that was measured before.

# %% tags=["parameters"]
PROFILE = "cpu-smollm2"
RECORDING = "ranks-that-jump-live"
STEPS = 8
ARMS = ["base", "prefix", "spec", "prefix+spec"]
ENGINE = "live"  # "stored": open RUN, measure nothing
RUN = "20261130T193341Z-quick-812cd2"

# %%
import pandas as pd
from IPython.display import Markdown, display

from labkit.analysis.arms import arm_table
from labkit.experiments.lessons import first_look
from labkit.experiments.lessons.measured import measured
from labkit.experiments.lessons.told import told
from labkit.plots.acceptance import acceptance_by_kind_figure, acceptance_by_kind_info
from labkit.plots.arms_overview import arms_overview_figure, arms_overview_info
from labkit.plots.per_turn import per_turn_figure, per_turn_info
from labkit.plots.tokens_per_turn import tokens_per_turn_figure, tokens_per_turn_info
from labkit.plots.wall_ledger import wall_ledger_figure, wall_ledger_info

pd.set_option("display.max_colwidth", None)

# %% [markdown]
# ## 1. What differs between the arms?
#
# An *arm* is one setting of three layers. Nothing else may differ, or the comparison is worth nothing. Below is all
# that differs from `base` in the command lines. A dash: no such setting. Empty: no difference.

# %%
first_look.differences(PROFILE, ARMS)

# %% [markdown]
# For `base` this shows the server's own flag. The quick run below saves a start: it takes the server of `prefix` and
# puts a fresh salt on every request, so that no prefix is found again. `labkit run quick --strict` takes the flag.
#
# ## 2. Measure
#
# Every arm gets the same requests in the same order. The run writes a folder as it goes; interrupting this cell stops
# it and keeps what it has.

# %%
question = {"profile": PROFILE, "recording": RECORDING, "steps": STEPS, "arms": ARMS}
run = measured("quick", question, ENGINE, RUN)
steps, table = run.steps(), arm_table(run.steps(), run.chunks())

# %% [markdown]
# ## 3. Which arm is faster?
#
# A ratio is paired: base's seconds over the arm's, on the steps that both finished; `n` counts these pairs. The *first
# token* is what a user waits for. A *round* is one pass through the model, which yields a token, or several by drafts.

# %%
first_look.arms_shown(table)

# %%
arms_overview_figure(arms_overview_info(table, run.info.asked["arms"]))

# %% [markdown]
# ## 4. What did the seconds go to?
#
# Predict before you look. The engine reads the prompt until the first token (*prefill*), then writes (*decode*). An
# agent reads more than it writes, so base should spend most of its seconds before the first token. A cache should
# shorten that part alone and speculation the other one alone, each leaving the other within a tenth.

# %%
ledger = wall_ledger_info(steps)
wall_ledger_figure(ledger)

# %%
reading = "base spends most of its seconds before the first token"
own_part = "prefix caching shortens only the time to the first token, and speculation only the time after it"
display(Markdown(told(reading, *first_look.reads_more_than_it_writes(ledger))))
display(Markdown(told(own_part, *first_look.each_shortens_its_part(ledger))))

# %% [markdown]
# ## 5. Vary one thing: the turn
#
# Each turn appends to the prompt of the one before. Predict again: without the cache the time to first token follows
# the prompt's length; with it, from turn 2 on, it follows what is *new* to the engine: the tokens it must compute. A
# *rank correlation* of 1 says that the order by one is the order by the other; 0, that they have nothing to do.

# %%
per_turn_figure(per_turn_info(steps, "ttft"))

# %%
only_what_is_new = (
    "without the cache the time to first token follows the prompt's length, and with it what is new instead"
)
Markdown(told(only_what_is_new, *first_look.waits_for_what_is_new(steps)))

# %% [markdown]
# ## 6. Where do tokens come from, and which are guessed?
#
# The dotted *ceiling* is what an infinite cache could have served of these requests: a bar that reaches it leaves
# nothing to gain. Drafts are counted apart: text that was seen before is guessed well, fresh text is not.

# %%
tokens_per_turn_figure(tokens_per_turn_info(steps, "prefix"))

# %%
acceptance_by_kind_figure(acceptance_by_kind_info(steps))

# %% [markdown]
# ## In practice
#
# - One pass over a few steps is a first look at one agent. For a result, with intervals: `labkit run factorial`, and
#   the notebook on the three layers together.
# - A small model repeats itself, which flatters speculation. Ask the same of your own model before you believe it.
# - This machine has two cores and no GPU: what it shows is how a layer works and what it saves, not what it saves you.
#   On a GPU, name its profile: `PROFILE = "mi300x-8-qwen3-235b"` runs the same cells.
# - `run.folder` is the whole run: `labkit show` prints it again, `labkit export` hands its tables to other tools.
# - Next: `01_why_agents_are_different`, on why an agent's cost grows faster than its steps.
