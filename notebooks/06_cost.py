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
# # What does a task cost, and what is hidden in a price per million tokens?
#
# **What you'll do:** turn the seconds of a run into dollars, for each token, task and arm; then change one assumption
# at a time and see which of them moves the cost most.
#
# **What you'll learn:** why a million tokens has three prices, why cached tokens must not be charged as computed ones,
# and what a table of costs assumes without saying so.
#
# **What you'll need:** the environment of `make setup` and the model (`labkit models fetch smollm2-135m-instruct`). Two
# cores and about three minutes with the values below; with `ENGINE = "stored"` nothing.

# %% tags=["parameters"]
PROFILE = "cpu-smollm2"
RECORDING = "ranks-that-jump-live"
STEPS = 4
ARMS = ["base", "prefix", "spec", "prefix+spec"]
PRICE = ""  # a name of `labkit cost --list`; empty: the first one for the machine of PROFILE
PUBLISHED_AT = "mi300x-8-rent"  # the price for what others published
ENGINE = "live"  # "stored": open RUN, measure nothing
RUN = "20261130T185320Z-factorial-093b36"
RUN_LOAD = "20261130T194344Z-interference-8c48e7"
RUN_CONFIRM = "20261130T201442Z-confirm-4bef52"

# %%
import pandas as pd
from IPython.display import Markdown

from labkit.analysis.recost import recost
from labkit.experiments.cost_words import remarks
from labkit.experiments.dashboard.money.costs import COLUMNS, costed, published
from labkit.experiments.dashboard.money.prices import an_hour, resting_on
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.lessons import assumptions, company, confirming, cost, spent
from labkit.experiments.lessons.measured import measured
from labkit.experiments.lessons.told import told

# %%
from labkit.plots.cost import cost_figure
from labkit.plots.per_million import per_million_figure
from labkit.plots.tornado import tornado_figure, tornado_info
from labkit.store.claims import load_claims

pd.set_option("display.max_colwidth", None)

# %% [markdown]
# ## What does an hour cost?
#
# A machine is rented or bought; either way its price is a list of figures, each with a source or the word
# *assumption*. Idle hours are paid for by the busy ones: that is *utilisation*, the share of the paid hours in which
# it works for you.

# %%
price = cost.price_of(PROFILE, PRICE)
print(f"{price.name}: {price.about}; {an_hour(price)}; rests on {resting_on(price)}.")
cost.figures_of(price)

# %% [markdown]
# ## Measure
#
# Requests of a recorded agent, one agent at a time, under each arm. All GPUs of the machine are paid for, from the
# first send to the last end of each pass, whatever they did meanwhile.

# %%
question = {"profile": PROFILE, "recording": RECORDING, "steps": STEPS, "arms": ARMS}
run = measured("quick", question, ENGINE, RUN)
opened = Opened(run)
costs = cost.costs_of(opened, price)

# %% [markdown]
# ## From an hour to a million tokens
#
# No step of this is more than a division. Everything that is disputed about a cost is in what goes into it.

# %%
base = cost.row_of(costs, "base")
cost.arithmetic(base)

# %% [markdown]
# Now every arm, with the dashboard's own words. A dash is "not measured", never 0: a replay sends recorded requests, so
# nobody checked whether a task was solved.

# %%
view = costed(opened, price.name)
shown = view.views[0]
print(view.elsewhere)
pd.DataFrame(shown.cells, columns=COLUMNS)

# %%
cost_figure(shown.per_task)

# %% [markdown]
# ## One bill, three prices
#
# A price per million tokens is the whole bill over some tokens. **Prediction 1:** prefix caching makes a million
# *prompt* tokens cheaper and a million *computed* ones dearer, since most of the tokens go, and decode, which it does
# not shorten, stays on the bill.

# %%
per_million_figure(shown.per_million["prompt"])

# %%
per_million_figure(shown.per_million["computed"])

# %%
words = cost.denominators(costs)
Markdown(told("prefix caching makes prompt tokens cheaper and computed ones dearer", *words))

# %% [markdown]
# So "dollars per million tokens" says nothing without its denominator, and two tables with different ones cannot be
# compared. What an agent is billed for is a task.
#
# ## What does each kind of token take?
#
# Instead of the whole bill over some tokens, share the seconds out: prefill to the prompt tokens, decode to those that
# were generated. **Prediction 2:** a cached token takes less than a tenth of a computed one.

# %%
by_arm = spent.spent(opened.counted)
cached = by_arm.get("prefix", by_arm["base"])
spent.kinds(by_arm["base"], cached, base["usd_per_hour"])

# %%
Markdown(
    told("a cached token takes less than a tenth of a computed one", *spent.cached_is_cheap(by_arm["base"], cached))
)

# %% [markdown]
# An engine that is rented by the hour does not charge for tokens at all, only for time. A seller's price for cached
# tokens is a decision of the seller; the row above is what they took here.
#
# ## What does a solved task cost?
#
# Failed tasks are paid for as well, so the cost of a solved one is all that was spent over the tasks that were solved.
# That needs live agents and hidden checks: `labkit run confirm`. Here is a small stored one.

# %%
confirm = measured("confirm", {}, "stored", RUN_CONFIRM)
judged = costed(Opened(confirm), price.name)
Markdown(judged.views[0].sentence)

# %%
confirming.attempts_in_words(confirm)

# %% [markdown]
# Where nothing is solved there is no such cost, however much was spent: the column stays a dash. But a run without
# checks can still say how many tasks a cheaper arm may fail before it is dearer per solved task than `base`, and how
# many more a dearer one must solve.

# %%
cost.break_even(costs)

# %% [markdown]
# ## The article's table, as far as it can be had
#
# The article that this lab started from has a table of costs per token and per task (5.3). Its numbers are not
# available to this project. So nothing of it is repeated here, and nothing is invented: here is what is noted of it.

# %%
claim = load_claims().set_index("id").loc["article-cost-table"]
claim[["statement", "source", "read", "caution", "today"]].to_frame("what is known of it")

# %% [markdown]
# The table of that *kind* can be made: per token, per task and per arm, from a measurement and a stated price. That
# is the table of arms above. For what others published on 8 x MI300X there are rates, so a price can be put to them;
# a dash is an input that nobody published. These are their claims, at a price of ours, and no measurement of this
# lab.

# %%
theirs = cost.price_of(PROFILE, PUBLISHED_AT)
print(f"{theirs.name}: {theirs.about}; {an_hour(theirs)}; rests on {resting_on(theirs)}.")
cost.published_in_words(recost(published(), {theirs.name: theirs}))

# %% [markdown]
# ## What does such a table assume?
#
# One agent at a time leaves a machine mostly unused. **Prediction 3:** with more agents at once a generated token gets
# cheaper. The run under load below was measured before; its machine may be another one than yours.

# %%
load = measured("interference", {}, "stored", RUN_LOAD)
crowd = company.in_company(cost.costs_of(Opened(load), price))
company.in_words(crowd)

# %%
Markdown(told("a token gets cheaper with more agents at once", *company.cheaper_in_company(crowd, "prefix")))

# %% [markdown]
# Now all of them, one at a time, on the cost of a task in the cheapest arm. Where the ends are assumed, what they move
# is arithmetic and no result: we chose half and double the price, and 10 % at work. So hold only measured ends against
# each other. **Prediction 4:** something else that was measured, such as the agents that share the machine, moves that
# cost more than all layers do.

# %%
cheapest = min(by_arm.values(), key=lambda each: each.total_s)
now = cost.row_of(costs, cheapest.arm)
layers, crowded = base["usd_per_task"] / now["usd_per_task"], company.company_of(crowd, cheapest.arm)
found = assumptions.assumptions(cheapest, by_arm["base"], price, layers, crowded)
assumptions.in_words(found, now["usd_per_task"])

# %%
now_words = cost.now_in_words(now)
tornado_figure(
    tornado_info(assumptions.as_table(found), "cost of a task run", now_words, f"{now['n_tasks']} task runs")
)

# %%
Markdown(told("something else moves the cost more than the layers", *assumptions.measured_moves_more(found)))

# %% [markdown]
# Read any table of costs with this list beside it. A table that does not say how busy its machine was, how many agents
# shared it, which tokens it counts and whether failed tasks are in it can be off by as much as the layers gain.
#
# ## Everything that these costs rest on

# %%
for line in remarks(costs, run.info, opened.events, [price]):
    print("-", line)

# %% [markdown]
# ## In practice
#
# - **Quote the cost of a solved task**, with the share that was solved, the load and the price of an hour. Per million
#   tokens only with the denominator, and never computed and cached ones alike.
# - **Put in your own price**: edit `data/prices.toml`, or `labkit cost latest --set utilisation=0.4`. The page
#   *Capacity and cost* has an input for each figure.
# - **Fill the machine first**: how many agents still keep your objective is asked by `labkit run capacity`. Then switch
#   layers on, in the order of `05_all_together`.
# - This machine cannot show what a GPU costs: seconds measured on a CPU with a GPU's price are a conversion, and the
#   lab says so. With `PROFILE = "mi300x-8-qwen3-235b"` the same cells measure it there.
# - Energy is read where the machine allows it (`amdsmi`, `nvml`, `rapl`); a virtual machine has none, so it is a dash.
