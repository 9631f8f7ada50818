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
# # Which layers pay together, and in which order would you switch them on?
#
# **What you'll do:** predict from the seconds of `base` what two layers will make of each other, then hold it against
# all arms, measured on the very same requests.
#
# **What you'll learn:** why gains of layers need not multiply, what an interval and "too few to tell" are worth, and
# how an order of switching on follows from a run.
#
# **What you'll need:** the environment of `make setup` and the model (`labkit models fetch smollm2-135m-instruct`). Two
# cores and about four minutes with the values below, which are **too few to tell**: the full factorial takes about
# 40 minutes on two cores, and `RUN` holds one. With `ENGINE = "stored"` nothing is needed.

# %% tags=["parameters"]
PROFILE = "cpu-smollm2"
RECORDINGS = ["evict-one-late-live", "ranks-that-jump-live"]
ARMS = ["base", "prefix", "spec", "prefix+spec"]  # the split, too: add "pd", "prefix+pd", "pd+spec", "all"
STEPS = 2
REPEATS = 1
SEED = 7
CONFIRM = False  # True: let live agents work in both arms (about a minute for each attempt)
ENGINE = "live"  # "stored": open RUN, measure nothing
RUN = "20261130T185320Z-factorial-093b36"
RUN_CONFIRM = "20261130T201442Z-confirm-4bef52"

# %%
import pandas as pd
from IPython.display import Markdown

from labkit.analysis.drift import drift
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.experiments.dashboard.compare import compare
from labkit.experiments.dashboard.compare.doubts import doubts
from labkit.experiments.dashboard.compare.meaning import meaning
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.lessons import amdahl, confirming, edges, fewer, order, pairing, together
from labkit.experiments.lessons.expected import as_expected
from labkit.experiments.lessons.measured import measured
from labkit.experiments.lessons.told import told

# %%
from labkit.plots.arms_overview import arms_overview_figure, arms_overview_info
from labkit.plots.forest import forest_figure, forest_info
from labkit.plots.interactions import interactions_figure, interactions_info
from labkit.plots.wall_ledger import wall_ledger_figure, wall_ledger_info

pd.set_option("display.max_colwidth", None)

# %% [markdown]
# ## Three switches, eight settings
#
# A *layer* is one of prefix caching, the prefill/decode split and speculation. An *arm* is one setting of the three; a
# *factorial* measures all eight, so that each layer is seen with and without every other one.

# %%
edges.corners()

# %% [markdown]
# ## Measure
#
# All arms get the same recorded requests, each pass with a cold cache. The order is drawn from `SEED`, every block is a
# new start of its engine, and the first arm is measured once more at the end, to show how far the machine drifted.

# %%
question = {
    "profile": PROFILE,
    "recordings": RECORDINGS,
    "arms": ARMS,
    "steps": STEPS,
    "repeats": REPEATS,
    "seed": SEED,
}
run = measured("factorial", question, ENGINE, RUN)
opened = Opened(run)
steps, table = opened.counted, opened.arm_table

# %% [markdown]
# ## Are they the same requests?
#
# Everything below is paired: a request in one arm against the same request in another. So first the claim that carries
# all the others: **every arm was sent what `base` was sent**, down to the number of tokens in each prompt.

# %%
pairs = pairing.pairing(steps)
pairs

# %%
Markdown(told("every arm was sent the requests of base", *pairing.all_paired(pairs)))

# %% [markdown]
# ## What can each layer shorten?
#
# A request is *prefill* (reading the prompt, until the first token) and *decode* (writing the reply). Prefix caching
# can shorten the first, for what was seen before; speculation only the second. So look at `base` alone, before any
# other arm.

# %%
owned = amdahl.owned(steps)
owned.table()

# %%
wall_ledger_figure(wall_ledger_info(steps[steps["arm"] == "base"]))

# %% [markdown]
# **A check (Amdahl's law).** A layer gains at most `total / (total - what it can shorten)`. The split has no such
# share: for one agent at a time it shortens nothing. So no arm may stand above its limit. That is
# hardly a prediction: it all but follows from what a share is, and an arm above it would say that a share is wrong. Nor
# will the limit be reached: what is cached still has to be looked up, and a draft still has to be verified.

# %%
limits = amdahl.limits(owned, table)
limits

# %%
Markdown(amdahl.checked(owned, table))

# %% [markdown]
# **Prediction 1.** If layers leave each other alone, what will two of them give? There are two answers. *Gains
# multiply* is what a factorial calls "no interaction". *Savings add* says that each layer takes its own seconds away.
# Where layers shorten different parts, the second is right, and it promises more than the product.

# %%
both = together.together(steps)
together.in_words(both)

# %%
Markdown(told("savings add, rather than gains multiply", *together.savings_add(both, "prefix+spec")))

# %% [markdown]
# The sums above weigh long requests more. The figure below, as all intervals here, is a mean over requests that count
# alike. If savings add, then here, too, **together they give more than the product**. The product is the cross. Below
# it, layers get in each other's way.

# %%
gains = compare.gains(opened, "cold", "")
interactions_figure(interactions_info(gains.arm_gains))

# %%
words = together.more_than_product(steps, ["prefix_caching", "speculation"])
Markdown(told("prefix caching and speculation together give more than the product of their gains", *words))

# %% [markdown]
# **Vary one thing: the clock.** Now the time to the first token (TTFT) alone. Speculation works after it, so alone it
# should change nothing there, and the product should be what prefix caching gains by itself.

# %%
interactions_figure(interactions_info(gains.arm_gains, "ttft_s"))

# %%
Markdown(
    told("speculation leaves the first token where it was", *as_expected(gains.arm_gains, "spec", "ttft_s", "same"))
)

# %% [markdown]
# ## Which arm takes less time than base?
#
# A ratio of sums, on the requests that both finished; the number at the bar is over these `n`. The split is expected to
# lose where both of its halves live on the same cores: each has less of them, and the KV cache has to travel.

# %%
arms_overview_figure(arms_overview_info(table, run.info.asked["arms"]))

# %%
print(pairing.split_in_words(steps))
Markdown(
    told("the split loses where both halves share the cores", *as_expected(gains.arm_gains, "pd", "e2e_s", "worse"))
)

# %% [markdown]
# ## What does each layer gain, and how sure is it?
#
# A layer's gain is averaged over the settings of the others; `×` is an *interaction*: what two give together over the
# product of what each gives. The line is the 95 % interval over tasks: where would the gain lie for other tasks like
# these?
#
# Averages mix the settings with and without the split. So hold `prefix × spec` here against the sentence above,
# which was about the two with no split beside them.

# %%
forest_figure(forest_info(gains.effects, ["e2e_s", "ttft_s"]))

# %%
pd.DataFrame(together.gain_rows(gains, "e2e_s"))

# %% [markdown]
# Read a row from the right. **Verdict** is one of *better*, *worse*, *same* (within 5 %) and *too few to tell*; an
# interaction (`×`) is no layer's gain, and is *more* or *less than the product*. **Would show** is the smallest gain
# that so many tasks would have shown in 80 of 100 runs. *Too few to tell* with "would show 1.50x" does not mean "no
# gain": it means that a gain of 1.3 would have looked the same.

# %% [markdown]
# ## What would fewer tasks have told?
#
# Vary one thing: throw data away, and measure nothing again. **Prediction 2:** the gain stays about where it is; one
# repeat has no verdict, since one slow start of an engine looks like a layer; and its interval, from half the data, is
# the wider one.

# %%
less = fewer.fewer(steps, "prefix")
fewer.in_words(less)

# %%
forest_figure(fewer.fewer_info(less, "prefix"))

# %%
Markdown(told("all of the run has a verdict, and one repeat of it has none", *fewer.told_from(less)))

# %%
Markdown(told("half the data gives a wider interval", *fewer.half_is_wider(less)))

# %% [markdown]
# ## Did the machine hold still?
#
# The first arm was measured again at the end. What its two blocks differ by is the machine's doing, and no smaller gain
# is to be believed without the random order. The lab also lists every other reason to trust the numbers less.

# %%
still = drift(opened.steps, run.info.asked)
print(still.in_words() if still else "No block was repeated at the end, so drift is not measured.")
for doubt in doubts(opened):
    print("-", doubt.words)

# %% [markdown]
# ## In which order would you switch them on?
#
# An average over settings does not answer that: what counts is the next step from where you are. So take the eight arms
# as corners of a cube. An *edge* switches one layer on and leaves the rest; all edges are judged together (Holm).

# %%
cube = edges.edges(steps)
edges.in_words(cube)

# %% [markdown]
# From `base`, take the edge that is clearly better and gains most; then again from there. Where no edge has a verdict,
# the answer is that it cannot be told, never the larger number.

# %%
found = order.order_of(cube, gains.arm_gains)
Markdown(order.in_words(found))

# %% [markdown]
# And what the whole run means, in the two sentences of the dashboard's Compare page:

# %%
said = meaning(compare.scope(opened), gains, "e2e_s", doubts(opened))
Markdown(f"{said.finding}\n\n{said.caution}")

# %% [markdown]
# ## Does the faster arm still solve its tasks?
#
# A replay sends recorded requests whatever the engine answers, so it cannot say. `labkit run confirm` can: live agents
# work at real tasks in both arms, with the same seeds, and hidden checks judge what they leave. The *margin*, how much
# lower a success rate would be tolerated, is fixed before.

# %%
asked = ConfirmAsked(profile=PROFILE, arm=found.arm if found.arm != "base" else "prefix+spec", attempts=2, steps=5)
print(asked.in_words())
print("fewest pairs of attempts, when the arms never disagree:", confirming.pairs_needed(asked.margin))

# %% [markdown]
# It is not run here unless `CONFIRM` says so, since every attempt takes about a minute. Below is a small one that was
# stored. **Prediction 3:** the faster arm solves as many. But this model is far too small for these tasks: where
# neither arm solves anything, no number of attempts will tell.

# %%
tried = {"profile": PROFILE, "arm": asked.arm, "attempts": 2, "steps": 5}
confirm = measured("confirm", tried, "live" if CONFIRM else "stored", RUN_CONFIRM)
confirming.attempts_in_words(confirm)

# %%
Markdown(told("the faster arm solves as many tasks as base", *confirming.confirmed(confirm)))

# %% [markdown]
# ## In practice
#
# - **Switch on what the edges say, in their order**, and stop where they stop. A layer that is *too few to tell* after
#   the others stays off until a longer run tells: `labkit run factorial --repeats 3`.
# - **Expect more than the product** where layers shorten different parts of a request, and less where they share one.
# - **Confirm** the arm that you chose before it goes to production, on tasks that your model can solve:
#   `labkit run confirm --arm prefix+spec --attempts 10`.
# - This machine cannot show what the split gains: on GPUs prefill and decode get their own. With
#   `PROFILE = "mi300x-8-qwen3-235b"` and all eight `ARMS` the same cells ask it there.
# - The order holds for one agent at a time. With company, decode shares its batches and prefill stalls others.
# - Next: `06_cost` puts a price to these seconds.
