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
# # When does speculative decoding give more time than it takes?
#
# **What you'll do:** work out what drafts promise, measure several drafters on the same requests of an agent, and
# count the seconds that each one gave and took.
#
# **What you'll learn:** why a drafter that is always right can still be slow, which words of an agent are easy to
# guess, and how to check that the text stayed the same.
#
# **What you'll need:** the environment of `make setup`, the model, two cores and about three minutes; or nothing:
# `ENGINE = "stored"`.

# %% tags=["parameters"]
PROFILE = "cpu-smollm2"
METHODS = []  # drafters of the profile; none named: all that it has
RECORDINGS = ["ranks-that-jump-live"]
STEPS = 6
ARM = "prefix+spec"  # beside it the same arm without speculation
ENGINE = "live"  # "stored": open RUN, measure nothing
RUN = "20261130T195042Z-speculation-eedab7"

# %%
import pandas as pd
from IPython.display import Markdown

from labkit.analysis.draft_positions import position_table
from labkit.analysis.draft_promise import given_before
from labkit.analysis.draft_rounds import round_table
from labkit.analysis.drafter_gain import gain_table
from labkit.analysis.drafters import drafter_table
from labkit.analysis.tables import measured as without_warmup
from labkit.engines.profiles import load_profile
from labkit.experiments.dashboard.layers.costs import cost, gains
from labkit.experiments.lessons import draft_seconds, draft_tables, drafted, drafting, same_text
from labkit.experiments.lessons.measured import measured
from labkit.experiments.lessons.told import told

# %%
from labkit.plots.draft_gain import draft_gain_figure, draft_gain_info
from labkit.plots.draft_promise import draft_promise_figure, draft_promise_info
from labkit.plots.draft_time import draft_time_figure, draft_time_info
from labkit.plots.drafters import drafters_figure, drafters_info
from labkit.plots.positions import positions_figure, positions_info
from labkit.plots.round_lengths import round_lengths_figure, round_lengths_info
from labkit.store.claims import load_claims

pd.options.display.max_colwidth = 80

# %% [markdown]
# ## Draft and verify
#
# A model writes one token a *pass*, and reads all of its weights for it. A *drafter* guesses the next `k` tokens
# cheaply. One pass of the model checks all of them, keeps those that it would have written itself, and adds one of its
# own.
#
# Such a *round* yields `tau` tokens (the *acceptance length*), at least one and at most `k + 1`. If a draft token costs
# `c` passes, a round lasts `1 + c k` passes, and decoding is faster by
#
# $$\text{speed-up} = \frac{\tau}{1 + c\,k}$$
#
# Source: Leviathan, Kalman and Matias 2023, theorem 3.8, [arXiv:2211.17192](https://arxiv.org/abs/2211.17192). Chen et
# al. 2023, [arXiv:2302.01318](https://arxiv.org/abs/2302.01318), describe the same rounds. Both take it that checking
# `k + 1` tokens lasts as long as writing one. Keep that in mind.
#
# ## What do this profile's drafters promise?
#
# `ngram` looks for the last words in the text so far, and copies what followed them. `suffix` does so over earlier
# replies, too. Neither runs a model: `c` is 0. A `draft_model` is a second, smaller model. On the laptop profile it is
# the target itself, so `c` is 1: the smallest model that is there has no smaller one.

# %%
profile = load_profile(PROFILE)
promises = drafting.promises(profile)
draft_tables.promised(promises)

# %%
draft_promise_figure(draft_promise_info(promises))

# %% [markdown]
# `c` is 0 for copies, 1 for the same model, else the ratio of the sizes in the two names; a dash where only a
# measurement can tell. A drafter with `c = 1` reaches 1x if every guess is right, and never more.
#
# ## Measure
#
# The requests of a recorded agent are sent again: once without a drafter, then once with each. Replies are *natural*
# (the engine stops where it wants), decoding is greedy, every step has its pair. Each drafter needs an engine start.

# %%
question = {"profile": PROFILE, "recordings": RECORDINGS, "arm": ARM, "steps": STEPS}
question |= {"methods": METHODS} if METHODS else {}
run = measured("speculation", question, ENGINE, RUN)

# %%
steps, events = run.steps(), run.events()
promised = drafting.promises(load_profile(run.info.asked["profile"]))
rates, rounds = drafter_table(steps), round_table(steps)
methods = list(rates["method"].unique())
promised = promised[promised["method"].isin(rates["method"])]
print(drafting.refusals(events))

# %% [markdown]
# `suffix` is optional: `make suffix` builds it. Where it is asked for and not built, the line above says so in the
# engine's own words, and the others are measured all the same. The stored run did not ask for it: `suffix` was not
# measured here.
#
# Two kinds of sentence follow. What a round takes is told *of this run*. What a drafter guesses would have to hold for
# other tasks, too, and an interval over tasks is proven from five of them on. With fewer there is no verdict.
#
# ## How many tokens does a round yield?
#
# **Prediction:** a draft model guesses better than n-gram, which only repeats what it has read. With the target's own
# weights nearly all of its guesses should be right. (*Rate*: accepted over proposed tokens, weighted by tokens.)

# %%
draft_tables.accepted(rates)

# %%
Markdown(told("the draft model has a larger share accepted than n-gram", *drafted.guessed(rates)))

# %% [markdown]
# ## Does a round last as long as the formula says?
#
# A reply without a drafter says what a pass takes. Each accepted token saves one: that time is *given*. What decoding
# took beyond the passes that were left is *taken*. Only pairs with the same number of tokens count.
#
# **Prediction:** checking is free and drafting costs `c`, so a round lasts `1 + c k` passes, within a tenth.

# %%
draft_tables.seconds_of_rounds(rounds)

# %%
said = [draft_seconds.rounds_last(rounds, promised, method) for method in methods]
Markdown("\n\n".join(told("rounds last the passes that the formula has", *each) for each in said))

# %% [markdown]
# Where rounds last longer, checking is what costs. A pass over one token waits for memory, and on a GPU there is
# arithmetic to spare for four more. Two cores have little to spare, and a small model's weights come fast. The lines
# are the promise, the marks are what rounds did.

# %%
draft_promise_figure(draft_promise_info(promised, rounds))

# %% [markdown]
# ## When does it slow down?
#
# A round pays where it yields more tokens than it lasts passes. Drafts that are rejected were paid for as well.
#
# **Prediction:** the formula is too kind, but right about who pays: n-gram does. A drafter of the
# target's size does not, however good its guesses are.

# %%
said = [draft_seconds.pays(rounds, promised, method) for method in methods]
predicted = "those pay whose rounds yield more tokens than the formula's passes, and no others"
Markdown("\n\n".join(told(predicted, *each) for each in said))

# %%
draft_time_figure(draft_time_info(rounds))

# %% [markdown]
# The same, step by step. A mark is one step with drafts against the same step without; below the dotted line drafting
# cost time. The sentences say at which acceptance that happened, for these steps.

# %%
pairs, other_length = gains(without_warmup(steps))
for method in pairs["method"].unique():
    print(f"{method}: {cost(pairs, method, other_length.get(method, 0)).words}.")

# %%
draft_gain_figure(draft_gain_info(pairs))

# %% [markdown]
# ## What of a long prompt and a short reply?
#
# Drafts speed up decoding alone. Where most of a step is spent before the first token, even decoding in no time would
# gain little: *at most* is that bound, *share of decoding* what it follows from (Amdahl's law).
#
# **Prediction:** drafts leave the time to the first token (TTFT) as it was.

# %%
draft_tables.shares_of_decoding(rounds)

# %%
said = [draft_seconds.first_token_stays(rounds, method) for method in methods]
Markdown("\n\n".join(told("the first token comes as early with drafts as without", *each) for each in said))

# %% [markdown]
# Below 1x in the column *first token*, it came later with the drafter. A draft model must read the prompt as well, and
# keeps KV of its own. A copier reads nothing, so there the column should stay near 1x.
#
# ## Tool calls or free text?
#
# An agent writes two things: calls, whose form a grammar holds, and text of its own. A draft that the grammar forbids
# is dropped before it is checked.
#
# **Prediction:** calls are guessed better: braces, names of tools and file names were all read before.

# %%
forms = drafted.forms(steps)
draft_tables.by_form(forms)

# %%
said = [drafted.calls_guess_better(forms, method) for method in forms["method"].unique()]
Markdown("\n\n".join(told("tool calls are guessed better than free text", *each) for each in said))

# %% [markdown]
# Rates can be far apart here and still be a matter of these tasks. A drafter that does not know the grammar writes its
# own words where a call must have others; those are cut off, and count neither as proposed nor as rejected. So a rate
# of 100 % can stand beside rounds that yield less than `k + 1`: read *drafted a round*, too. By kind of step (few steps
# are drawn faint):

# %%
drafters_figure(drafters_info(rates, "rate", "kind"))

# %%
drafters_figure(drafters_info(gain_table(steps, tested=False), "gain", "kind"))

# %% [markdown]
# ## How far into a draft does acceptance reach?
#
# A token counts only if all before it were right, so shares fall with the position. The usual estimate of tau, equation
# 1 of Leviathan et al., takes it that each token is accepted with one and the same chance.
#
# **Prediction:** given that the token before was accepted, the share is the same at every position.

# %%
positions = position_table(event for event in events if event["type"] == "counters")
positions_figure(positions_info(positions))

# %%
draft_tables.by_position(given_before(positions))

# %%
said = [drafted.one_chance(positions, rates, method) for method in positions["method"].unique()]
Markdown("\n\n".join(told("one chance holds for every position", *each) for each in said))

# %% [markdown]
# A draft may be shorter than `k`, as n-gram's are near the end of a match, and what it lacks counts as not accepted. So
# a falling share can mean that nothing was proposed, and a rising one that who copies one word right copies the next.
#
# ## Does it get better as the conversation grows?
#
# **Prediction:** yes for n-gram: the longer the text, the more there is to copy from. These are the first turns alone;
# `labkit run speculation --recordings night-shifts` goes on to turn 33.

# %%
drafters_figure(drafters_info(rates, "rate", "turn"))

# %%
said = [drafted.later_is_better(rates, name) for name in drafting.COPIERS if name in set(rates["method"])]
Markdown("\n\n".join(told("more is accepted in late turns than in early ones", *each) for each in said))

# %% [markdown]
# ## Is it still the same text?
#
# Drafts must not change what a greedy engine writes: it keeps only what it would have written. Every reply is compared
# with its pair, letter by letter, tool calls included.
#
# **Prediction:** all texts are the same.

# %%
texts = same_text.unchanged(steps).assign(run=run.id)
draft_tables.texts(texts)

# %%
Markdown(told("every text is the same", *same_text.all_the_same(texts)))

# %%
print(same_text.partings_in_words(run.replies()))

# %% [markdown]
# "Same" has a limit. A pass over five tokens adds its sums in another order than a pass
# over one, and where the two best tokens are a hair apart, or tie, another one may win. Both texts are then equally
# greedy. This profile computes in float32 for that reason: its differences are far smaller than the usual gap. In
# bfloat16, or on a GPU, expect a few that part, and look at where.
#
# ## What happens in a batch?
#
# With many requests at once, a pass has less arithmetic to spare, and a rejected draft takes it from somebody. Nothing
# above says how much, since one agent was at work. Measure it: `labkit run interference --arms prefix,prefix+spec` or
# `labkit run capacity --arms prefix,prefix+spec`.
#
# ## What would it be on the target?
#
# Eight MI300X serve Qwen3-235B. This is the plan for each drafter: what the arm with speculation has and the same arm
# without it has not. Nothing of it was run here.
#
# vLLM plans its next pass while the GPU is busy (*asynchronous scheduling*). `ngram` and `suffix` need that off, so the
# profile switches it off for all arms that are compared. That is a part of their price which the comparison does not
# show, and how much it is was not measured here.

# %%
target = load_profile("mi300x-8-qwen3-235b")
print(target.title, drafting.plan_lines(target, ARM), sep="\n")

# %%
draft_tables.promised(drafting.promises(target))

# %% [markdown]
# EAGLE3 is a small *head* that drafts from the model's own hidden states, and fits only the model that it was trained
# on. The hybrid model and Instruct-2507 are two models, and each has heads of its own. None was loaded here.

# %%
draft_tables.fitting(drafting.heads(target))

# %% [markdown]
# ## What do others publish?
#
# Tokens a round do not depend on how fast a machine is, so they travel better than a speed-up. They do depend on model,
# drafter and text. Claims are hollow and beside the measurement, never joined to it.

# %%
round_lengths_figure(round_lengths_info(rates, load_claims()))

# %% [markdown]
# ## In practice
#
# - For an agent on a GPU, try `ngram` first: it needs no memory, and agents repeat themselves. It costs asynchronous
#   scheduling there, so measure it against an arm that has it on. `suffix` costs the same, and was not measured here.
# - Use a head or a draft model where it guesses much better **and** is much smaller than the model.
# - Judge by seconds given and taken, not by the acceptance rate. A perfect drafter of the model's own size loses.
# - This machine cannot show what checking costs on a GPU, nor an EAGLE3 head, nor a batch. A 135M model also repeats
#   itself more than a large one, which flatters copies.
# - For a result rather than a first look: `labkit run speculation --repeats 3 --seed 1`.
# - Next: `05_all_together`, how the layers go together.
