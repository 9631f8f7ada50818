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
# # Does it pay to split prefill from decode, when agents get in each other's way?
#
# **What you'll do:** put agents on one engine, watch one agent's prompt hold up another's stream chunk by chunk, then
# split prefill from decode, count what moves between them, and do the sums for a turn that is mostly cached.
#
# **What you'll learn:** how long a prompt holds up a stream, what smaller chunks and the split each do about it, what
# a transfer of KV costs, when the split cannot pay, and what the same split looks like on eight MI300X.
#
# **What you'll need:** the environment of `make setup` and the model (`labkit models fetch smollm2-135m-instruct`). Two
# cores and about four minutes with the values below, if the engine of `prefix` is warm (`labkit up --arm prefix`); or
# nothing at all: `ENGINE = "stored"`.

# %% tags=["parameters"]
PROFILE = "cpu-smollm2"
TARGET = "mi300x-8-qwen3-235b"
PLAIN, SPLIT = "prefix", "prefix+pd"
AGENTS = [1, 2]
WINDOW = 12
STEPS = None  # steps of a recording after which an agent begins the next; None: all of them
CHUNK = None  # 256: with a live engine, measure the load once more with at most so many tokens in a pass
REPLAY_STEPS = 4  # 0: open RUN_REPLAY also when ENGINE is "live", which saves a start of the split
ENGINE = "live"  # "stored": open the runs below, measure nothing
RUN = "20261130T194344Z-interference-8c48e7"
RUN_REPLAY = "20261130T185320Z-factorial-093b36"
RUN_CHUNKS = "20261130T205747Z-interference-8fcbca"  # the same load in smaller chunks

# %%
import pandas as pd
from IPython.display import Markdown

from labkit.engines.plan_text import plan_text
from labkit.engines.profiles import load_profile
from labkit.experiments.dashboard.layers.halves import halves, verdict, where
from labkit.experiments.dashboard.layers.split import split_section
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.lessons import chunked, interference, moriio, split_balance, transfers, under_split
from labkit.experiments.lessons.measured import measured
from labkit.experiments.lessons.model_configs import shape_of
from labkit.experiments.lessons.split_pays import by_hit_rate
from labkit.experiments.lessons.told import told

pd.set_option("display.max_colwidth", None)

# %% [markdown]
# ## Two kinds of work on one engine
#
# *Prefill* computes the KV of a prompt, many tokens at once. *Decode* makes the reply, one token a pass. An engine puts
# both into the same pass, so that a stream gets its next token when somebody's prompt is done.
#
# Two times tell: *TTFT*, from the send to the first token, and *ITL*, the gap between two chunks of a stream. The split
# gives each kind of work a process of its own; the KV moves between them. In the plan that changes what each process is
# for, and the addresses and ports by which they find each other (all of it: `labkit plan --arm prefix+pd`):

# %%
profile = load_profile(PROFILE)
together, apart = moriio.planned(profile, PLAIN), moriio.planned(profile, SPLIT)
moriio.in_short(moriio.differences(together, apart, (PLAIN, SPLIT)))

# %% [markdown]
# ## Measure under load
#
# Each agent replays recorded runs in a closed loop: it sends its next request when it has the answer and its tool's
# time has passed. What counts was sent while all agents were at work; one agent alone is each arm's yardstick.

# %%
question = {"profile": PROFILE, "arms": [PLAIN, SPLIT], "agents": AGENTS, "window": WINDOW, "steps": STEPS}
run = measured("interference", question, ENGINE, RUN)
load = interference.in_company(run)
interference.spans_shown(load)

# %% [markdown]
# ## How fast is a prompt computed?
#
# Only tokens that are not in the cache are computed. Tokens over seconds, with nobody else at work, is the *rate* of
# prefill. **Prediction:** with the split, prefill has a part of the machine, and its rate falls by as much.

# %%
on = halves(run.info.fingerprint)
print(where(on))
slower = under_split.prefill_slows_with_its_share(load, PLAIN, SPLIT, on)
Markdown(told("the rate falls as the part of the machine does", *slower))

# %% [markdown]
# ## One clock, chunk by chunk
#
# **Prediction:** a prompt of N new tokens makes the streams beside it wait about N / rate seconds, all in one gap.
#
# The figure picks the clearest moment of the run: the longest wait for a first token that fell into another agent's
# stream. Each tick is a chunk that arrived. A *stall*, in grey, is a gap of more than three times the usual one, and of
# more than 0.2 s.

# %%
from labkit.plots.interference import timeline_figure

timeline_figure(interference.moment(load, PLAIN))

# %% [markdown]
# That is one moment. The run has more of them: every prompt that was computed while one other agent's stream ran.
# Here, with two agents, are those with most new tokens, and the gap that the rate predicts: the usual one and N / rate.

# %%
interference.longest_prompts(load, PLAIN)

# %% [markdown]
# And all of them. The line is no fit: it was known before any two agents met.

# %%
from labkit.plots.collisions import collisions_figure

collisions_figure(interference.dots(load, PLAIN, lines=(PLAIN,)))

# %%
stalls = interference.stalls_last_as_predicted(load, PLAIN)
Markdown(told("a prompt of N new tokens makes a gap of N / rate and the usual one", *stalls))

# %% [markdown]
# ## Vary one thing: the chunk
#
# A long prompt need not be one pass. The engine's flag `max-num-batched-tokens` is the most tokens that a pass holds;
# a longer prompt is computed in chunks, and the streams get a token after each. No second engine is needed.
#
# **Prediction:** the gap beside a long prompt falls to the usual one and *one chunk* / rate. By arithmetic, for the
# longest prompt of this run. The prompt itself pays: each pass more also makes a token of the stream beside it.

# %%
chunked.promised_gaps(load, PLAIN)

# %% [markdown]
# A chunk of another size takes another start of the engine, so it is measured if you ask for it (`CHUNK = 256`). The
# first row is of the run above, or of the stored one. Where no prompt was longer than a chunk there is no table.

# %%
sizes = chunked.two_sizes(run, question, CHUNK if ENGINE == "live" else None, (RUN, RUN_CHUNKS))
chunked.chunks_shown(sizes, PLAIN)

# %%
divided = chunked.small_chunks_divide_the_gap(sizes, PLAIN)
Markdown(told("the gap falls to one chunk / rate", *divided))

# %% [markdown]
# ## Now split
#
# With the split, the process that decodes computes no prompts, so no pass of it holds one. **Prediction:** the longest
# gaps get shorter. First tokens come later: prefill has less of the machine, and the KV must be moved.
#
# The same moment as above, in both arms:

# %%
timeline_figure(interference.moment(load, PLAIN, SPLIT))

# %% [markdown]
# And every prompt beside a stream. Dots of the split near the bottom are streams that ran on; those near the line, or
# above it, stood still as long as without the split.

# %%
collisions_figure(interference.dots(load, PLAIN, SPLIT, lines=(PLAIN,)))

# %%
run_on = under_split.streams_run_on(load, PLAIN, SPLIT)
Markdown(told("most streams run on while a prompt is computed", *run_on))

# %% [markdown]
# Why? The likely cause, which no clock here names: decode computes on both cores, each token waits for the slower of
# them, and one belongs to prefill meanwhile. No pass holds the prompt any more, but the core does. On hardware where
# the halves share nothing this cause is gone.

# %% [markdown]
# By the number of agents: the median time to first token, and the longest gaps.

# %%
from labkit.plots.load_lines import load_figure, load_info

load_figure(load_info(load.levels, "ttft"))

# %%
load_figure(load_info(load.levels, "itl"))

# %% [markdown]
# The numbers, with the tail of both. An interval is over agent-runs (one agent on its way through one recording), and
# stands there only where five of them or more were seen.
# Look at the cached share, too: prefill never sees the KV of the replies, which decode made, so that the next turn
# computes the last reply anew.

# %%
under_split.levels_shown(load)

# %%
trade = under_split.split_trades_gaps_for_first_tokens(load, PLAIN, SPLIT)
Markdown(told("the split makes the longest gaps shorter and first tokens later", *trade))

# %% [markdown]
# ## What does a transfer cost?
#
# A token's KV has a fixed size: keys and values of every layer, for every KV head. Its bytes follow from the model's
# configuration and the dtype of the cache, before anything has moved.

# %%
shape = shape_of(load_profile(run.info.asked["profile"]))
print(shape)
print("the run's own fingerprint:", run.info.fingerprint.get("kv_bytes_per_token"))

# %% [markdown]
# NIXL, the connector of this profile, counts transfers, bytes and seconds in the process that fetches: decode. Here
# is what it counted in the windows under load, means over transfers.

# %%
transfers.transfers_shown(run, SPLIT)

# %% [markdown]
# **Prediction:** bytes are those of whole blocks, since a block is what a cache keeps; so a token costs a little more
# than arithmetic says. Only what decode misses is moved: its own cache holds the turns before.

# %%
blocks = transfers.whole_blocks_move(run, SPLIT, shape)
Markdown(told("whole blocks are moved, and so somewhat more a token than the arithmetic", *blocks))

# %% [markdown]
# Which transfer belongs to which step is known where one request is in flight at a time. So here is another kind of
# run: one agent, the same requests in both arms, one after the other.

# %%
replay = {"profile": PROFILE, "recording": "ranks-that-jump-live", "arms": [PLAIN, SPLIT], "steps": REPLAY_STEPS}
replayed = measured("replay", replay, ENGINE if REPLAY_STEPS else "stored", RUN_REPLAY)

# %%
from labkit.plots.transfers import transfers_figure

transfers_figure(transfers.dots(replayed, SPLIT, shape_of(load_profile(replayed.info.asked["profile"]))))

# %% [markdown]
# **Prediction:** next to the prefill of the same tokens, moving them is nothing: less than a tenth of the time to the
# first token. Between two processes of one machine it is a copy in memory; between two machines it is not.

# %%
moving = transfers.share_of_the_wait(replayed, SPLIT)
Markdown(told("transfers take less than a tenth of the time to first token", *moving))

# %% [markdown]
# ## When does the split not pay?
#
# An agent's turn is mostly cached: the prompt is the one before, and a little more. The split can only take away what
# prefill is left, from whoever is decoding at that moment. It costs the turn itself on every turn.
#
# **Prediction:** at the hit rate of this run, a turn's own first token is later by more than the prefill that is
# split off. First, where the seconds of one agent alone go:

# %%
from labkit.plots.wall_ledger import wall_ledger_figure

wall_ledger_figure(split_balance.ledger(replayed, PLAIN, SPLIT))

# %%
balance = split_balance.balance(replayed, PLAIN, SPLIT)
split_balance.balance_shown(balance)

# %%
cost = split_balance.split_costs_more_than_it_frees(balance)
Markdown(told("the turn loses more than the split frees", *cost))

# %% [markdown]
# It is not one turn in the middle, but every one. Turn 1 has most prefill; later turns have what was appended. The
# ratio in the sentence is a geometric mean, of each turn against its twin: a short turn counts as much as a long one.
# The table above has arithmetic means, in which the long turns weigh more, so that its two times have another ratio.

# %%
from labkit.plots.twin_lines import twin_lines_figure

print(split_section(Opened(replayed), SPLIT, "cold", None).finding)
twin_lines_figure(split_balance.first_tokens_by_turn(replayed, PLAIN, SPLIT))

# %% [markdown]
# Now as arithmetic: the same prompt at other hit rates. Each stream beside it is spared the prefill, if decode shares
# nothing with prefill, and the turn pays once. So beside how many streams does it even out? First with the rates of
# this run, where the split prefills on a part of the machine; then with equal rates, as with hardware for each half.

# %%
by_hit_rate(balance)

# %% [markdown]
# What is freed shrinks with the new tokens; transfer and detour are there on every turn. So the more is cached, the
# more streams must run beside a prompt, with equal rates most clearly. A split beside which nobody decodes never pays.
#
# Smaller chunks shorten the gaps of the same streams and cost no machine. That is by arithmetic; whether it was so in a
# run is told under "Vary one thing". The prefill stays on the streams' engine, and the prompt's own TTFT rises.
#
# ## The target: four GPUs prefill, four decode
#
# On eight MI300X the same layer is two engines of four GPUs each, behind a router that they announce themselves to,
# with MoRI-IO as the connector. Nothing in this section was run on such a machine by this lab. A plan is data: this
# is what `labkit up` would start.

# %%
target = load_profile(TARGET)
write = moriio.planned(target, "pd")
print(plan_text(write))

# %% [markdown]
# With all three layers on, both halves get the drafter as well, and prefix caching is not switched off:

# %%
moriio.differences(write, moriio.planned(target, "all"), ("pd", "all"))

# %% [markdown]
# ## READ or WRITE?
#
# Who moves the blocks? In **WRITE**, prefill puts them into decode's memory as they are computed; decode goes on with
# its other streams meanwhile. It sends the blocks of the whole prompt, whatever decode has. In **READ**, decode
# fetches them when prefill is done; in vLLM 0.32 its forward pass waits for them, so that a transfer stalls every
# stream of its batch: the very thing that the split was to end. That is read in the source of vLLM 0.32, not measured.
#
# One setting decides, and it must be equal in both halves. The environment variables of the published recipe
# (`VLLM_MORIIO_CONNECTOR_READ_MODE=1`) are ignored by 0.32, which logs a warning and runs WRITE.

# %%
read = moriio.planned(moriio.with_connector(target, read_mode=True), "pd")
moriio.differences(write, read, ("WRITE", "READ"))

# %% [markdown]
# `backend` matters as much. The default wants an RDMA network card; within one machine the KV goes over the links
# between the GPUs (`xgmi`). All settings of the connector:

# %%
moriio.connector_shown(write)

# %% [markdown]
# ## How many bytes would a turn move there?
#
# The arithmetic is the same, the model is not. Here are the turns of the replay above with the KV of the large model:
# WRITE moves the whole prompt; a connector that knows what decode has moves only what is new. Tokens are those of
# the small model's tokenizer; the large one's counts the same text otherwise.

# %%
large = shape_of(target)
print(large)
transfers.turn_bytes(replayed, SPLIT, large)

# %% [markdown]
# MoRI-IO has no metrics in vLLM 0.32, so a run there has dashes where NIXL has bytes and milliseconds. What can be
# read instead: prompt tokens by source (`external_kv_transfer`) times the bytes above, and the counters of the links.
#
# ## What did others measure?
#
# Hollow marks are claims. They are on other prompts (2,000 random tokens, prefix caching off), and nothing that was
# measured here stands beside them.

# %%
from labkit.plots.claimed import claimed_figure, claimed_info

attained = moriio.published("slo_attainment", "MoRI-IO")
claimed_figure(claimed_info(attained, "How many of 100 requests met TTFT < 1 s and ITL < 50 ms?"))

# %%
moriio.published_shown(attained)

# %% [markdown]
# The same source says that TTFT got worse with the split. All claims on it: `labkit claims --layer pd_split`.
#
# ## What two cores can show, and what they cannot
#
# They can show what a prompt does to a stream, what chunks should leave of it, that KV really moves between two
# processes, how many bytes that are, and what fails when it does not. Whether the split pays is another matter:

# %%
print(verdict(on) or "Each half has its own hardware here, so that the question is open: believe the run.")

# %% [markdown]
# ## In practice
#
# - First look at the hit rate. With a cached prompt there is little prefill to split off, and the cache is cheaper.
# - Then at the longest gaps under your own load (`labkit run interference --agents 1,2,4`). If they are too long, try a
#   lower `max-num-batched-tokens` before you split: by arithmetic it shortens them, it costs no hardware, and the TTFT
#   of long prompts rises. Measure both with `CHUNK`.
# - Split when prompts are long and new, many streams must not stand still, and each half has hardware of its own that
#   would be busy. Then count transfers that failed, not only those that went well.
# - On MI300X: `labkit plan --profile mi300x-8-qwen3-235b --arm pd`, and WRITE unless you have measured READ. Check that
#   outputs are the same with prefix caching on and off: with this connector that is unproven.
# - Two cores cannot show a gain of the split, nor the cost of a network. For the commands on a GPU machine set
#   `PROFILE` to the target, and run these very cells.
#
# Next: `04_speculative_decoding` asks which drafter guesses what.
