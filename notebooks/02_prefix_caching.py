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
# # What does a prefix cache save an agent, and when does it forget?
#
# **What you'll do:** send one agent's requests with the prefix cache and without, give the gap to a perfect cache its
# names, change the block size and the history, and then let too many agents share too small a cache.
#
# **What you'll learn:** what a turn costs once its beginning is cached, what a block rounds off, whose words can be
# reused, and how to foretell from two numbers when a cache stops working.
#
# **What you'll need:** the environment of `make setup` and the model (`labkit models fetch smollm2-135m-instruct`). Two
# cores and about five minutes with the values below; or nothing: `ENGINE = "stored"` shows runs that came with the
# project.

# %% tags=["parameters"]
PROFILE = "cpu-smollm2"
RECORDING, STEPS = "ranks-that-jump-live", 8
BLOCK_SIZES, OTHER_BLOCK = [16, 32, 64, 128, 256], 128
OTHER_WORDS, OTHER_STEPS = "ranks-that-jump", 5
AGENT, AGENT_STEPS, AGENTS, WINDOW = "evict-one-late-live", 5, [1, 2, 3, 4, 6], 10.0
CACHE_BLOCKS, CONTEXT = 129, 2048  # of the small cache: its blocks, and the longest request it takes, in tokens
ENGINE = "live"  # "stored": open the runs below, measure nothing
RUN = "20261130T193341Z-quick-812cd2"
RUN_CLIFF = "20261130T210339Z-interference-868d9f"
RUN_BLOCK = "20261130T204221Z-replay-8df1bb"
RUN_WORDS = "20261130T204412Z-replay-e0b882"
RUN_WORDS_LIVE = "20261130T204509Z-replay-26bd72"

# %%
import pandas as pd
from IPython.display import Markdown

from labkit.analysis.block_sizes import by_block_size
from labkit.core.arms import arm_named
from labkit.engines.plan import make_plan
from labkit.engines.plan_diff import diff
from labkit.engines.profiles import load_profile, variant

pd.set_option("display.max_colwidth", None)

# %%
from labkit.experiments.lessons import block_sizes, by_default, caching, cliff, cliff_seen, whose_words
from labkit.experiments.lessons.disturbed import disturbed
from labkit.experiments.lessons.measured import measured
from labkit.experiments.lessons.not_shipped import measured_if_there
from labkit.experiments.lessons.told import told
from labkit.plots.agents_cache import agents_cache_figure, agents_cache_info
from labkit.plots.block_sizes import block_sizes_figure, block_sizes_info
from labkit.plots.cache_gap import cache_gap_figure, cache_gap_info
from labkit.plots.load_lines import load_figure, load_info
from labkit.plots.per_turn import per_turn_figure, per_turn_info
from labkit.plots.tokens_per_turn import tokens_per_turn_figure, tokens_per_turn_info

# %% [markdown]
# ## Is the cache on when nobody asks for it?
#
# A *prefix cache* keeps the keys and values (KV) that a prompt was turned into. A prompt that begins with the same
# tokens takes them from there. The article that this lab began with says that vLLM does not do so by itself:

# %%
by_default.claim("article-no-reuse")

# %% [markdown]
# A claim is no measurement. So ask: vLLM's own parser and configuration, in a process of their own, with the flag left
# out. **Prediction:** the installed vLLM has prefix caching off until a flag says otherwise, as the article says.

# %%
default = by_default.off_until_asked(by_default.asked_by_default(ENGINE, PROFILE))
Markdown(told("the cache is off until a flag switches it on", *default))

# %% [markdown]
# So `base`, the arm without any layer, is a choice of this lab and not what a server does by itself. Here is all that
# differs between the two arms of this notebook:

# %%
profile = load_profile(PROFILE)
base, prefix = (make_plan(profile, arm_named(arm)) for arm in ("base", "prefix"))
pd.DataFrame(diff(base, prefix)).rename(columns={"left": "base", "right": "prefix"}).fillna("–")

# %% [markdown]
# ## What does it do to a turn?
#
# One agent's recorded requests, sent twice: once without the cache and once with it. To save an engine start, the run
# asks one server; for `base` a fresh *cache salt* on each request keeps it from finding anything.

# %%
question = {"profile": PROFILE, "recording": RECORDING, "steps": STEPS, "arms": ["base", "prefix"]}
run = measured("replay", question, ENGINE, RUN)
steps = run.steps()
steps = steps[steps["arm"].isin(["base", "prefix"])]

# %% [markdown]
# *TTFT* is the time to the first token: what an agent waits for before anything comes. **Prediction:** each turn
# repeats the whole conversation, so from turn 2 on the cache more than halves TTFT. Turn 1 has nothing to reuse.

# %%
caching.turn_table(steps)

# %%
Markdown(told("from turn 2 on the cache more than halves the time to first token", *caching.first_token(steps)))

# %%
per_turn_figure(per_turn_info(steps, "ttft"))

# %% [markdown]
# Look at a turn that came with a long tool result: the cache helps little there, since a result is new. **Prediction:**
# one rule covers both lines. A token that is computed costs about the same in both arms; the cache just leaves fewer.

# %%
Markdown(told("a computed token costs the same in both arms, within a third", *caching.price(steps)))

# %% [markdown]
# ## How much was possible?
#
# The *ceiling* is what an infinite cache of whole blocks could have served of these very requests. Bars that reach the
# marks leave nothing to gain: not from more memory, and not from another engine.

# %%
tokens_per_turn_figure(tokens_per_turn_info(steps, "prefix"))

# %% [markdown]
# What was seen before and computed all the same has a name: *rounded off* (only whole blocks hit), *template drift*
# (history was rewritten), *evicted*, or *in another process*. **Prediction:** one agent fits, so nothing is evicted.

# %%
cache_gap_figure(cache_gap_info(steps, "prefix"))

# %%
caching.gap_table(steps)

# %%
Markdown(told("the cache holds all that one agent comes back to", *caching.nothing_evicted(steps)))

# %% [markdown]
# ## What does a block cost?
#
# A cache works in blocks of so many tokens, and a block that is not full is computed again. vLLM's own size on a CPU is
# larger than what this profile pins. What would another size have made of the same requests? First a check on the
# arithmetic, on the size that was measured:

# %%
size = block_sizes.block_size_of(run)
Markdown(told("the ceiling can be worked out from what a run keeps", *block_sizes.checked(steps, size)))

# %% [markdown]
# **Prediction:** what is not a whole block is lost at every turn, so vLLM's own size costs this agent a tenth of its
# ceiling, or more.

# %%
block_sizes.size_table(block_sizes.of_arm(steps), BLOCK_SIZES)

# %%
block_sizes_figure(block_sizes_info(by_block_size(block_sizes.of_arm(steps), BLOCK_SIZES), size))

# %%
costs = block_sizes.costs_a_tenth(block_sizes.of_arm(steps), size, OTHER_BLOCK)
Markdown(told(f"blocks of {OTHER_BLOCK} tokens cost this agent a tenth of its ceiling, or more", *costs))

# %% [markdown]
# About half a block is lost at each turn, however long the prompt is. So it is a short prompt that pays. Here is what
# can hit at all of a prompt that is sent a second time, word for word:

# %%
block_sizes.short_prompts([64, 100, 200, 300, 500, 1000, 4000], BLOCK_SIZES)

# %% [markdown]
# Now measure one of the sizes. `variant` says other engine flags in the profile's name, so that the run and its
# fingerprint say them too. **Prediction:** the hit rate is the ceiling that was just worked out.

# %%
larger = variant(PROFILE, {"block-size": OTHER_BLOCK})
question = {"profile": larger, "recording": RECORDING, "steps": STEPS, "arms": ["prefix"]}
other = measured_if_there("replay", question, ENGINE, RUN_BLOCK)

# %%
seen = block_sizes.measured_size(steps, other)
Markdown(told("the hit rate with the other block size is the ceiling that was worked out", *seen))

# %% [markdown]
# ## Whose words can be reused?
#
# Decode, too, leaves blocks: those of the reply. The next prompt finds them if it carries the reply as the engine said
# it. A replay with *recorded* history puts the recording's words there; one with *live* history the engine's own.

# %%
question = {"profile": PROFILE, "recording": OTHER_WORDS, "steps": OTHER_STEPS, "arms": ["prefix"]}
recorded = measured_if_there("replay", question, ENGINE, RUN_WORDS)
live = measured_if_there("replay", {**question, "history": "live"}, ENGINE, RUN_WORDS_LIVE)

# %% [markdown]
# This recording was decided by a script, so the model would have said something else. **Prediction:** more of the
# replies is found again with the engine's own words. The recording of the first section was decided by this model:
# its recorded words are the engine's own.

# %%
histories = whose_words.there({"recorded, another's words": recorded, "live, the engine's own": live})
whose_words.words_table({**histories, "recorded, its own words": steps})

# %%
Markdown(told("the engine's own words are found again more often", *whose_words.both_histories(recorded, live)))

# %% [markdown]
# Even own words are not found whole: a tool call is parsed by the server and written anew by the template, and the rest
# must fill a block. A replay with recorded history is fair to both arms, and a little stingy to the cache.
#
# ## When does a cache forget?
#
# Give the engine a cache that is far too small, and let agents share it. Each has its own conversation, so they share
# nothing. All that the arithmetic needs is known before the engine starts: the cache's blocks, and what an agent holds.

# %%
small = variant(PROFILE, {"num-gpu-blocks-override": CACHE_BLOCKS, "max-model-len": CONTEXT})
question = {"profile": small, "arms": ["prefix"], "agents": AGENTS, "window": WINDOW}
question |= {"recordings": [AGENT], "steps": AGENT_STEPS}
asked = cliff.asked(ENGINE, question, RUN_CLIFF)

# %%
cache, lives = cliff.small_cache(asked["profile"]), cliff.turns_of(asked)
need = cliff.need_of(lives, cache.block_size)
cliff.need_table(lives, cache.block_size)

# %%
print(need.in_words(cache))

# %% [markdown]
# The cache gives away what was used longest ago. An agent that comes back after all others have had their turn finds
# `blocks - (agents - 1) * blocks of an agent`. **Prediction:** all is kept as long as all fit, and within an agent or
# two more all is lost. Here is the same rule, played turn by turn for every number of agents:

# %%
expected = cliff.predicted(lives, asked["agents"], cache)
print(cliff.predicted_in_words(expected, need.fits(cache)))
cliff.predicted_table(expected)

# %% [markdown]
# Read the column *kept of it*: the hit rate over its ceiling. A window counts whatever turns fall into it, so its
# ceiling is not quite the one above; the share that is kept can be compared.

# %% [markdown]
# Now let the agents work. Each level is a window in which so many agents are at it all the time. Numbers of agents
# without a window of their own have a dash. Hit rates are counts; times are shown only of a run that nobody disturbed.

# %%
crowded = measured("interference", question, ENGINE, RUN_CLIFF)
rows, why_no_times = cliff_seen.load_rows(crowded), disturbed([crowded])
cliff_seen.cliff_table(rows, expected, why_no_times)

# %%
agents_cache_figure(agents_cache_info(rows, expected, need.fits(cache)))

# %%
falls = cliff_seen.falls_where_predicted(rows, need, cache)
Markdown(told("the cache holds everything until the agents' blocks are too many, and then next to nothing", *falls))

# %% [markdown]
# **Prediction:** past the cliff the time to first token more than doubles: whole conversations are computed again at
# each turn, and the agents queue for that. Company alone costs something as well, so look at the levels that fit.

# %%
None if why_no_times else load_figure(load_info(rows, "ttft"))

# %%
cost = cliff_seen.costs_the_first_token(rows, need, cache, why_no_times)
Markdown(told("past the cliff the time to first token more than doubles", *cost))

# %% [markdown]
# And the cache that the profile gives its engines? The same arithmetic, in tokens, for agents as long as the one above:

# %%
print(cliff_seen.memory_in_words(run))

# %% [markdown]
# ## In practice
#
# - Leave prefix caching on. From the second turn on, an agent then pays for what is new alone.
# - Keep prompts append-only, word for word. A clock in the system prompt, or a template that rewrites history, ends the
#   prefix there. `labkit doctor --recording NAME` looks for it.
# - Take small blocks for short turns. On a GPU the attention backend has a say in the size; pin it in all arms.
# - Count blocks before you add agents, and watch the hit rate beside its ceiling: past the number
#   that fits, an agent or two more cost all of them most of what was kept. More memory, fewer agents at once, or an
#   agent's turns routed to one replica are the ways back.
# - What this machine cannot show: how caches of several replicas share the load, offloading to host memory, and the
#   price of a computed token on an MI300X. The same cells run there with `PROFILE = "mi300x-8-qwen3-235b"`.
# - Agents that share a system prompt share its blocks. Here each had a salt of its own, so the cliff is of private
#   conversations.
# - Next: `03_prefill_decode_split`, where the cache of one half is not the cache of the other.
