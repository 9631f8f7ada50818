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
# # Why does an agent of thirty steps cost more than thirty times one question?
#
# **What you'll do:** send one agent's recorded conversation to an engine, cut after 1, 5, 15 and 30 steps, without and
# with prefix caching; but first add up, on paper, what it should cost.
#
# **What you'll learn:** why the sum of prompts grows faster than the steps, where the seconds go, what of it a cache
# takes away, and why memory and utilisation do not show any of this.
#
# **What you'll need:** the environment of `make setup` and the model. Live, about three minutes on two cores for 1, 5
# and 15 steps; the stored run has 30 as well (add it to COUNTS, and wait eight minutes). Or nothing:
# `ENGINE = "stored"`.

# %% tags=["parameters"]
PROFILE = "cpu-smollm2"
RECORDING = "night-shifts"
COUNTS = [1, 5, 15]  # the stored run has 30, too
ARMS = ["base", "prefix"]
ENGINE = "live"  # "stored": open RUN, measure nothing
RUN = "20261130T193602Z-steps-ab97b9"
RUN_TASKS = "20261130T185320Z-factorial-093b36"  # six tasks in place of one; opened, never measured here

# %%
from IPython.display import Markdown, display

from labkit.experiments.lessons import first_look, steps, steps_cut, steps_machine, steps_predicted, steps_told
from labkit.experiments.lessons.measured import measured
from labkit.experiments.lessons.told import told
from labkit.plots.growth import growth_figure, growth_info
from labkit.plots.per_turn import per_turn_figure, per_turn_info
from labkit.plots.steps_ledger import steps_ledger_figure, steps_ledger_info
from labkit.plots.tokens_per_turn import tokens_per_turn_figure, tokens_per_turn_info
from labkit.traffic.recording import named

# %% [markdown]
# ## What should it cost? Arithmetic first
#
# An engine remembers nothing between two calls. So each call of an agent sends the whole conversation again: the
# instructions, every answer and every tool's result so far. A *recording* keeps these calls, with the length of each
# prompt in *tokens*, the pieces of words that a model reads.

# %%
recording = named(RECORDING)
prompts = steps_predicted.prompts(recording)
prompts.set_index("turn").head(6)

# %% [markdown]
# Look at `prompt` and at `sum`. The prompt grows by what was added, more or less evenly. The sum adds up a growing
# number, and that is all it takes: with a first prompt of p tokens and g more at each step, N steps send
#
# $$N p + g\,\frac{N (N - 1)}{2}$$
#
# The first part grows in step with N, the second with its square. A short agent hardly notices the second part.

# %%
print(steps_predicted.formula(recording))
steps_predicted.predicted_shown(steps_predicted.predicted(recording, {*COUNTS, 30}))

# %% [markdown]
# This is the prediction. Without a cache every prompt is computed whole: the column *all prompts, added up*, to the
# token. A cache that loses nothing computes each token once, so it leaves only the *last prompt*.
#
# ## Now measure
#
# Each cut is a conversation of its own that finds nothing of the others. Replies have their recorded length
# (*pinned*), so that all arms do the same work.

# %%
question = {"profile": PROFILE, "recordings": [RECORDING], "counts": COUNTS, "arms": ARMS}
run = measured("steps", question, ENGINE, RUN)

# %% [markdown]
# *Prefill* is the engine reading the part of a prompt that it must compute; *decode* is writing the reply, token by
# token. The *KV cache* is the memory that holds what was read. In `base` nothing is reused; in `prefix` the beginning
# that a prompt shares with an earlier one is. A dash: not measured on this machine.

# %%
steps.cost_table(run)

# %% [markdown]
# ## Was the arithmetic right?
#
# Predicted was the sum of the recording's prompts. It was counted when the agent ran; the engine counts anew.

# %%
every_prompt = "without a cache the engine computes every prompt whole, and their sum was known before"
Markdown(told(every_prompt, *steps_told.tokens_as_predicted(run, recording)))

# %%
growth, exponents = steps.growth_and_exponents(run)
growth_figure(growth_info(growth, exponents, "prompt_computed"))

# %% [markdown]
# On two logarithmic axes a power of the steps is a straight line, and its slope the *exponent*: 1 grows in step, 2 with
# the square. It lies between the two, because the first prompt is paid in any case; it rises as the agent goes on.
#
# ## Why is a later call dearer?
#
# *TTFT*, the time to first token, is the wait for prefill. Prediction: without a cache it follows the prompt's length;
# with one, from turn 2 on, it does not, but what is new: a long result of a tool takes long wherever it comes. A *rank
# correlation* of 1 says that two orders are the same. Here are the turns of the longest cut.

# %%
longest = steps.longest(run)
per_turn_figure(per_turn_info(longest, "ttft"))

# %%
wait_climbs = "without a cache the time to first token follows the prompt's length, and with one what is new instead"
Markdown(told(wait_climbs, *first_look.waits_for_what_is_new(longest)))

# %% [markdown]
# ## Where do the seconds go?
#
# If cost grew in step with the steps, a call would take as long in a long run as in a short one, and all bars below
# would be of one height. Prediction: under `base` they rise, and most of the rise is prefill. Nobody else is on the
# engine, so nothing should be spent in the queue.

# %%
ledger = steps_ledger_info(run.steps())
steps_ledger_figure(ledger)

# %%
rises_by_prefill = "a call gets dearer with the length of the run, and most of that is prefill"
Markdown(told(rises_by_prefill, *steps_told.prefill_makes_it(ledger)))

# %% [markdown]
# The same in numbers, as mean seconds of a call. *Server* is the engine's HTTP side: template and tokenizer. *Tool* is
# the time that the recorded tools took. *Other* is what no clock names. A dash: these arms have no such part.

# %%
steps.seconds_by_part(ledger)

# %% [markdown]
# ## Vary one thing: the cache
#
# Prediction, from the table at the top: with prefix caching only the last prompt is computed, all calls together. A
# cache keeps whole *blocks* of tokens, so a part of a block is lost at each step: allow a quarter more.

# %%
only_the_last = "a cache leaves little more than the last prompt to compute"
Markdown(told(only_the_last, *steps_told.cache_leaves(run)))

# %%
tokens_per_turn_figure(tokens_per_turn_info(longest, "prefix"))

# %% [markdown]
# What the cache cannot take away is decode: the reply is as long as before. Prediction: with caching a call is mostly
# decode, and the next lever is a faster decode (the notebook on speculation).

# %%
decode_remains = "with caching a call of a long run spends more on decode than on prefill"
Markdown(told(decode_remains, *steps_told.decode_is_left(ledger)))

# %% [markdown]
# ## Does time grow as the tokens do?
#
# Decode is paid at each step alike, so time should grow less than tokens do, and still faster than the steps. But this
# is one pass on one start of an engine: an exponent of seconds may be luck, and is not to be believed without repeats.

# %%
growth_figure(growth_info(growth, exponents, "e2e_s"))

# %%
time_faster = "time without a cache grows faster than the steps"
Markdown(told(time_faster, *steps_told.grows_faster(run.steps(), "e2e_s")))

# %% [markdown]
# ## Is it this one task?
#
# An interval needs several tasks. A run that comes with the project has six of five steps each, twice, on engines that
# were started anew; it is opened here, whatever ENGINE says. A step depends on those before it alone, so that run can
# be cut after 1, 2 and 5 steps after the fact. Prediction: over tasks both tokens and time grow faster than the steps.

# %%
tasks = measured("factorial", {}, "stored", RUN_TASKS)
cuts = steps_cut.cut_short(tasks.steps(), [1, 2, 5], ["base", "prefix"])
steps.exponents_shown([run.steps(), cuts])

# %%
in_general = "without a cache {} faster than the steps, over tasks"
display(Markdown(told(in_general.format("tokens grow"), *steps_told.grows_faster(cuts, "prompt_computed"))))
display(Markdown(told(in_general.format("time grows"), *steps_told.grows_faster(cuts, "e2e_s"))))

# %% [markdown]
# Where the interval of an exponent holds 1, nothing can be told. Look back at the formula: over five steps growth is
# the smaller part of the tokens, and decode is paid at each step alike. Short agents hide what long ones pay.
#
# ## And memory?
#
# Work is a sum over calls, but memory is not: the KV cache must hold one context at a time, the longest. Prediction: it
# grows far less than the computed tokens, and the engine's own gauge shows as much in use with caching as without.

# %%
one_context = "memory follows the longest context, not the work, and is the same in both arms"
Markdown(told(one_context, *steps_machine.memory_follows_the_context(run)))

# %% [markdown]
# ## Does utilisation show it?
#
# A monitor shows how busy the processor is. Prediction: as good as full in both arms, because an engine that computes
# the same prompt for the tenth time is as busy as one that does something new.

# %%
always_full = "the processor is at least 90 % busy with caching and without"
Markdown(told(always_full, *steps_machine.busy_whatever_it_does(run)))

# %% [markdown]
# ## So what is such an agent worth in questions?
#
# The title asked it. Prediction: without a cache a run of N steps computes more than N times the prompt of one
# question, and with a cache no more. That is said of tokens alone. In seconds N steps are worth about N questions even
# with a cache: each step decodes, and no cache takes that away.

# %%
more_and_less = "N steps compute more prompt tokens than N single questions without a cache, and no more with one"
Markdown(told(more_and_less, *steps_told.worth_in_questions(run)))

# %% [markdown]
# ## In practice
#
# - Switch prefix caching on for agents. The longer the run, the more it takes away; what it computes can be read off
#   the last prompt before anything is measured.
# - Keep the beginning of the prompt unchanged: one changed word near the top, and all after it is computed again
#   (`labkit doctor --recording NAME` finds such a word).
# - Watch computed prompt tokens, not utilisation or memory: neither tells work from repeated work.
# - A shorter history (a summary, results cut short) is the other way to a smaller g; it costs the cache its prefix.
# - What two cores cannot show: a GPU computes a prompt so much faster that the rise in seconds begins at longer
#   prompts. The tokens are the same. `PROFILE = "mi300x-8-qwen3-235b"` runs these cells there; the GPU's power is then
#   in the table.
# - Next: `02_prefix_caching`, on what a cache finds, what it loses, and why.
