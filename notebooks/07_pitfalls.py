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
# # What takes back, unseen, what the layers gain?
#
# **What you'll do:** break an agent's prompt cache with one line of text and mend it, count what other habits cost,
# look for the memory of a draft model, and see what an agent gets when a transfer cannot happen.
#
# **What you'll learn:** where a timestamp may stand, what a template that rewrites history costs, what a draft model
# really takes, and which settings of a transfer exist.
#
# **What you'll need:** the model, two cores and about three minutes with an engine up (`labkit up --arm prefix`); or
# nothing: `ENGINE = "stored"`.

# %% tags=["parameters"]
PROFILE = "cpu-smollm2"
RECORDING = "ranks-that-jump-live"
STEPS = 5
ARMS = ["base", "prefix"]
MODEL = "smollm2-135m-instruct"  # whose tokenizer counts; no engine is asked
POOL_GB = 400  # an assumption: what 4 MI300X have left for KV beside Qwen3-235B in FP8
START_DRAFT = False  # True: start engines with and without a draft model, three minutes more
BREAK = False  # True: start a split engine and kill its prefill side, two minutes more
ENGINE = "live"  # "stored": open the runs below, measure nothing
RUN = "20261130T210619Z-replay-7fab1a"
RUN_FIRST = "20261130T210712Z-replay-d46ebe"
RUN_LAST = "20261130T210810Z-replay-a272ec"
RUN_DRAFT = "20261130T195042Z-speculation-eedab7"
RUN_BROKEN = "20261130T210110Z-replay-5ba5a8"

# %%
import pandas as pd
from IPython.display import Markdown

from labkit.analysis.draft_arithmetic import draft_table
from labkit.analysis.routed import routed_table
from labkit.analysis.variants import variant_table
from labkit.doctor.template import renderer
from labkit.engines.profiles import load_profile
from labkit.plots.cache_gap import cache_gap_figure, cache_gap_info
from labkit.plots.kv_room import kv_room_figure, kv_room_info
from labkit.plots.variants import tokens_info, ttft_info, variants_figure
from labkit.store.claims import load_claims

pd.set_option("display.max_colwidth", None)

# %%
from labkit.experiments.lessons import (
    broken_transfer,
    counting,
    draft_memory,
    habits,
    pit_tables,
    rewritten_history,
    timestamp,
    transfer_settings,
)
from labkit.experiments.lessons.disturbed import disturbed
from labkit.experiments.lessons.measured import measured
from labkit.experiments.lessons.told import told

# %% [markdown]
# ## One line at the top
#
# Many agents tell the model what time it is, and the first line of the system prompt looks like the place for it. Here
# is a recorded run of an agent, and the same run with such a line. Every request writes it anew.

# %%
variants = timestamp.variants_of(RECORDING)
early = variants[timestamp.FIRST]
[early.request(turn).messages[0]["content"][:60] for turn in range(3)]

# %% [markdown]
# A *prefix cache* keeps the keys and values (KV) of prompts that were computed, in blocks. A block is found again only
# if everything before it is the same, token for token. `labkit doctor --recording NAME` compares each request with the
# one before. First the requests as they were recorded:

# %%
render = renderer(load_profile(PROFILE))
print(timestamp.in_words(timestamp.checks_of(variants[timestamp.CLEAN], render)))

# %% [markdown]
# And with the time first. It names the turn, the message and what the difference looks like, without a model:

# %%
print(timestamp.in_words(timestamp.checks_of(early, render)))

# %% [markdown]
# ## What does it cost?
#
# **Prediction.** Nothing stands before that line but the role of the message. So the cache, though it is on, should
# serve next to nothing, and the time to first token (TTFT) should be that of `base`, where it is off. As recorded it
# should be well below.
#
# Three runs follow: as recorded, with the time first, and with the time last, which is the mend. All have the recorded
# reply lengths, so that only the prompts differ.

# %%
asked = {"profile": PROFILE, "arms": ARMS, "steps": STEPS}
questions = timestamp.questions(variants, **asked)
stored = dict(zip(questions, [RUN, RUN_FIRST, RUN_LAST], strict=True))

# %%
runs = {name: measured("replay", question, ENGINE, stored[name]) for name, question in questions.items()}

# %% [markdown]
# The *hit rate* is the share of prompt tokens that came from the cache. Its *ceiling* is what an infinite cache of
# whole blocks could have served of these very requests. Both are weighted by tokens, under `prefix`. TTFT is added up
# over *pairs*, the steps that both arms finished; the gain is `base`'s sum over that of `prefix`.
# Where other processes kept the machine busy, times are shown and not judged.

# %%
steps = {name: run.steps() for name, run in runs.items()}
table = variant_table(steps)
pit_tables.variants(table)

# %%
Markdown(told("the cache serves next to nothing with the time first", *timestamp.nothing_left(table)))

# %%
two = disturbed(runs[name] for name in (timestamp.CLEAN, timestamp.FIRST))
slow = timestamp.as_slow_as_base(table, two)
Markdown(told("with the time first the first token takes as long as under base", *slow))

# %%
variants_figure(ttft_info(steps))

# %% [markdown]
# The ceiling falls with the hit rate: no larger cache would help. So a hit rate near its ceiling is not yet good news.
# What was lost has a name all the same, since the lab knows what each request was appended to:

# %%
cache_gap_figure(cache_gap_info(steps[timestamp.FIRST], "prefix"))

# %% [markdown]
# *Template drift* is what was in the cache and is no prefix any more: here nearly all that had been seen.
#
# ## The mend
#
# Put what changes last. The time then ends the newest message, and stays in the history as it was sent.

# %%
late = variants[timestamp.LAST]
[late.request(turn).messages[-1]["content"][-60:] for turn in range(3)]

# %% [markdown]
# **Prediction.** Every request extends the one before again, so the hit rate should be that of the recording, up to the
# few tokens that the time takes.

# %%
print(timestamp.in_words(timestamp.checks_of(late)[:1]))

# %%
Markdown(told("the hit rate is that of the recording", *timestamp.repaired(table)))

# %% [markdown]
# ## Which other habits break a prefix?
#
# It takes no engine to see a prefix break: tokens are enough. The next table sends the whole recording as five agents
# would have, and asks an infinite cache. *Arguments written anew* parses each tool call and writes it again without
# spaces, as JavaScript does.
#
# **Prediction.** All of them differ from what was cached, but not at the same place. Arguments that are written anew
# should cost far less than a time that stands first.

# %%
encode, own = counting.encoder(MODEL), counting.template_of(MODEL)
counted = habits.habit_table(variants[timestamp.CLEAN], own, encode)
pit_tables.habits(counted)

# %%
Markdown(told("arguments written anew cost less than a time that stands first", *habits.arguments_cost(counted)))

# %% [markdown]
# The first break says where, and the place decides. What stands first is lost to all that follows; an argument is lost
# once, when its reply enters the history, and is the same from then on. Tools stand behind the system prompt in this
# template, so their order spares that much; other templates put them first.
#
# ## Two replicas that take turns
#
# Each replica of an engine has a cache of its own. A router that hands out requests in turn sends an agent away from
# what was cached for it. **Prediction:** with more replicas there is more to compute, since each of
# them meets a history that it has seen less of.

# %%
turns = habits.turns_of(habits.habits_of(variants[timestamp.CLEAN])["none: as recorded"], own, encode)
routed = routed_table(turns, [1, 2, 4, 8], block_size=32)
pit_tables.routed(routed)

# %%
Markdown(told("more replicas leave more to compute", *habits.turns_cost(routed)))

# %% [markdown]
# The first row is also what *sticky* routing gives, however many replicas there are: the session decides, as with the
# router's policy `consistent_hash`, which the MI300X profile sets. Counted for one agent and caches that forget
# nothing.
#
# ## A template that rewrites history
#
# Some models reason before they answer. Qwen3's chat template writes that reasoning into the prompt only behind the
# user's last message: a newer one makes it vanish from all replies before. The cache holds those replies *with* it. Our
# own small template states that rule and nothing else.
#
# Source: [QwenLM/Qwen3 issue 1826](https://github.com/QwenLM/Qwen3/issues/1826), with a mend in pull request 1901.

# %%
thoughtful = rewritten_history.thinking(variants[timestamp.CLEAN])
forgets = rewritten_history.templates()[rewritten_history.FORGETS]
print(timestamp.in_words(timestamp.checks_of(thoughtful, forgets)))

# %% [markdown]
# The requests extend one another, and the prompts do not: only who renders the template sees it. The model that made
# this recording does not reason, so the reasoning is a stand-in: the first 400 characters of what it had been told. The
# table below compares each prompt with what the cache holds, the reply before it included, and so finds more breaks.
#
# **Prediction.** Prompts without old reasoning are shorter. Still there should be more to compute, since every message
# of the user throws away what came after the first rewritten reply.

# %%
rewritten = rewritten_history.history_table(variants[timestamp.CLEAN], encode)
pit_tables.history(rewritten_history.sums(rewritten))

# %%
lines = {name: rows.set_index("turn")["computed"] for name, rows in rewritten.groupby("template", sort=False)}
variants_figure(tokens_info("What is there to compute, by what a template does with reasoning?", lines))

# %%
Markdown(told("the template that forgets has more to compute", *rewritten_history.costs_more(rewritten)))

# %% [markdown]
# Two mends. Take a model without a think mode, such as Qwen3-235B-A22B-Instruct-2507: the MI300X profile does. Or send
# the reasoning back *and* serve a template that keeps it. Inside one tool loop, without a new message of the user, it
# is enough to send `reasoning` back with each reply.
#
# ## What memory does a draft model take?
#
# A draft model is a second model in the same engine. Its weights are easy to add up. It also has layers of its own, and
# every block of the KV cache must hold their keys and values, too.

# %%
claims = load_claims()
Markdown(pit_tables.claimed(draft_memory.claim_of(claims, "article-draft-memory")))

# %% [markdown]
# **Prediction.** The laptop profile's draft is the target once more: as many layers, so a block takes twice the bytes
# and the same memory should hold half of the blocks. N-gram speculation has no model, and should take none.

# %%
asked = {"profile": PROFILE, "methods": ["ngram", "draft_model"], "recordings": [RECORDING], "steps": 2}
drafting = measured("speculation", asked, ENGINE if START_DRAFT else "stored", RUN_DRAFT)

# %%
rooms = draft_memory.room_table(drafting)
pit_tables.rooms(rooms)

# %%
kv_room_figure(kv_room_info(rooms))

# %%
Markdown(told("half of the blocks are left", *draft_memory.takes(rooms, "draft_model", 0.5)))

# %%
Markdown(told("n-gram speculation takes no block", *draft_memory.takes(rooms, "ngram", 1.0)))

# %% [markdown]
# The engine does not say how many blocks it has in a run's samples. It says how full they are, and that is always a
# fraction with this number below the line: some readings give it away, exactly.
#
# The weights come on top, outside the KV cache. **Prediction:** the machine's memory shows them.

# %%
expected = draft_memory.draft_weights_gb(drafting)
Markdown(told("the machine's memory shows the draft's weights", *draft_memory.weighs(rooms, "draft_model", expected)))

# %% [markdown]
# Whatever stands beyond the weights was there from the start: buffers of a second model, and what loading leaves
# behind. This run cannot tell them apart; so measure, and do not only add up.
#
# And on the target? Nothing below is measured: it is arithmetic, from the sizes in each model's `config.json`, for
# drafts beside Qwen3-235B-A22B on four MI300X. The draft is shared out over the same GPUs as the target, as vLLM 0.32
# demands of a draft model.

# %%
pit_tables.drafts(draft_table(POOL_GB))

# %% [markdown]
# The weights are the small part. Qwen3's small models have twice as many KV heads as the large one, in a third of its
# layers: the smallest draft takes more than half as much KV a token as its target. What a draft takes grows with the
# memory that is there for KV, so there is no one number for it.
#
# ## What happens when a transfer fails?
#
# In a split engine, prefill computes a prompt and sends its KV blocks to decode. Several published settings for that do
# not exist:

# %%
transfer_settings.claims_on_transfer(claims)

# %% [markdown]
# These do. The column *this profile* is what the lab sets; a dash leaves the default.

# %%
transfer_settings.settings_table(load_profile(PROFILE))

# %% [markdown]
# The first is the one that decides. The lab says `fail`: a transfer that was lost must be seen as a failure.
# `recompute` lets decode compute the blocks that did not come, and the fault then looks like a slow step.
#
# **Prediction.** Decode can compute a prompt, too. So one might hope that an agent survives when prefill is gone.
# `BREAK = True` starts a split engine and kills its prefill process after two steps; where no such run is named, the
# next cells say so.

# %%
asked = {"profile": PROFILE, "recording": RECORDING, "arms": ["prefix+pd"], "steps": 6}
broken = broken_transfer.broken(asked, ENGINE if BREAK else "stored", RUN_BROKEN)

# %%
pit_tables.steps_of(broken)

# %%
Markdown(told("the agent's next step survives", *broken_transfer.survives(broken)))

# %% [markdown]
# `kv_load_failure_policy` has no say in that: it is for blocks that were promised and did not arrive. The router asks
# prefill first, and decode only with prefill's answer (read in its source). What falls back is a second prefill engine,
# or a client that asks again elsewhere.
#
# ## In practice
#
# - Put what changes last: time, ids, budgets, retrieved text. Need the date above? Write the day, not the second.
# - Run `labkit doctor --recording FILE` on a day of your own requests (one body a line). It needs no engine.
# - Send earlier messages back byte for byte: same key order, same spaces, same reasoning.
# - Alarm on the ceiling, not only on the hit rate: it falls when prompts are at fault, the gap grows when the cache is.
# - Several replicas: route by session. Draft model: count its KV layers before its weights.
# - Split engine: keep `kv_load_failure_policy = "fail"` while you measure, and have more than one prefill engine when
#   you serve.
# - This machine cannot show a transfer that times out between two nodes, nor an eviction under hundreds of agents.
