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
# # What of the article holds, and which of its lines does the engine of today take?
#
# **What you'll do:** put an article's code on agents, MoRI-IO and MI300X to the vLLM that is installed here, line by
# line; then set its claims beside what one machine measured and what others published.
#
# **What you'll learn:** which names are refused, which are worse than refused, and what to write today; and how little
# of a published number can be checked without its hardware.
#
# **What you'll need:** the environment of `make setup`; no model and no engine is started. A minute on two cores, for
# vLLM's import and its checks; or nothing: `ENGINE = "stored"` shows what another machine's vLLM answered.

# %% tags=["parameters"]
PROFILE = "cpu-smollm2"  # whose engine is asked
HARDWARE = "MI300X"  # whose claims stand in the second table
ENGINE = "live"  # "stored": the answers that came with the project
RUN = "20261130T185320Z-factorial-093b36"
RUN_STEPS = "20261130T193602Z-steps-ab97b9"
RUN_INTERFERENCE = "20261130T194344Z-interference-8c48e7"
RUN_SPECULATION = "20261130T195042Z-speculation-eedab7"

# %%
import pandas as pd
from IPython.display import Markdown

from labkit.experiments.lessons import article, article_shown, article_told
from labkit.experiments.lessons.article_answers import article_answers
from labkit.experiments.lessons.article_words import in_words
from labkit.experiments.lessons.measured import measured
from labkit.experiments.lessons.told import told
from labkit.plots.claims import gains_figure, gains_info
from labkit.plots.hit_rates import hit_rates_figure, hit_rates_info
from labkit.store.claims import load_claims

pd.set_option("display.max_colwidth", None)

# %% [markdown]
# ## What does the article say?
#
# The article itself is not part of this project. What was noted of it are these claims: most are lines of code or of
# configuration, three are about numbers.

# %%
claims = load_claims()
of_article = claims[claims["source"] == article.ARTICLE]
article_shown.claims_shown(of_article)

# %% [markdown]
# ## Ask the engine, do not quote it
#
# A process of the engine's own Python gets every line once. It runs imports, hands keywords to `EngineArgs`, flags and
# YAML files to the parser of `vllm serve`, and connector keys to the connector's own config class. No weights are
# loaded. An answer is `accepted`, `refused` with the engine's words, or `ignored`.

# %%
answers = article_answers(ENGINE, PROFILE)

# %% [markdown]
# ## Does the import work?
#
# The article sets its KV connection up with `from vllm.connections import global_force_connection`. **Prediction:** the
# import fails, since no release of vLLM that we know of has such a name.

# %%
print(in_words(answers.of("connection")))

# %%
Markdown(told("the import fails", *article_told.import_saw(answers)))

# %% [markdown]
# The module does exist. Here is what it has under a name like that, and what it says of itself: it fetches pictures
# and sounds for prompts, over HTTP. Today a connection between prefill and decode is a `KVTransferConfig`.

# %%
print(*answers.of("connections").read.values(), sep="\n")

# %%
article.lines_table(answers, "article-force-connection")

# %% [markdown]
# ## What became of the keywords for speculation?
#
# `speculative_model` and `speculative_max_model_len` were real once. Unknown keywords and flags are what Python and
# a command-line parser stop at by themselves, so this is the kind of mistake that costs a minute.

# %%
article.lines_table(answers, "article-speculative-model", "article-spec-max-len")

# %% [markdown]
# `max_model_len` inside `speculative_config` is checked, too: the number in the last column is what the draft's own
# config ended up with, not what was typed.
#
# ## Can a YAML file have sections?
#
# `vllm serve --config` reads YAML, and the article gives it the sections `mori_io:` and `proxy:`. The reader turns each
# key at the top into a flag. So a section is a flag, too, and either there is one of that name or there is not.

# %%
article.lines_table(answers, "article-moriio-yaml")

# %% [markdown]
# The connector has its place, as a nested value of `kv-transfer-config`. The proxy has none, as it is no part of the
# engine: `vllm-router` is a process of its own, with a command line of its own.
#
# ## What happens to keys that a connector does not know?
#
# Below `kv_connector_extra_config` anything may stand. The article's keys are put there, where they look at home, and
# the engine is configured twice: without the key and with it. Every setting of connector, cache, scheduler and transfer
# is compared, and warnings are listened to. **Prediction:** an engine stops at a name that it does not know, here as
# above.

# %%
connector = (
    "article-fp8-under-moriio",
    "article-rdma-timeout",
    "article-retry-count",
    "article-max-transfers",
    "article-buffer-size",
)
article.lines_table(answers, *connector)

# %%
Markdown(told("the engine stops at every name that it does not know", *article_told.names_saw(answers)))

# %% [markdown]
# Ignored is worse than refused: with `kv_cache_dtype: fp8` in the wrong place the cache takes twice the room that its
# owner planned with. **Vary one thing:** the same would befall a right key that is misspelt. **Prediction:**
# `transfer_timout`, with an `e` missing, is ignored as well.

# %%
print(answers.of("timeout-today").read)
Markdown(told("the misspelt key is ignored, too", *article_told.misspelt_saw(answers)))

# %% [markdown]
# **Vary another:** one level up, beside `kv_connector`, names are checked. The same key, put there:

# %%
print(in_words(answers.of("one-level-up")))

# %% [markdown]
# ## Is there a Qwen3-1.5B?
#
# The article drafts with Qwen3-1.5B. Whether a name exists can only be told by the hub that has the models, and this
# notebook asks no network. The control shows it: a name that was made up passes the same parser.

# %%
print(in_words(answers.of("draft-name")))
print(in_words(answers.of("draft-name-control")))

# %% [markdown]
# So this line cannot be judged here. What is known of the name from elsewhere stands in the table of claims, as
# `today`. What a draft's weights come to is arithmetic: two bytes a parameter, in the size that its name says.

# %%
print(claims.set_index("id").loc["article-qwen3-15b", "today"])
names = ["Qwen3-0.6B", "Qwen3-1.5B", "Qwen3-1.7B", "Qwen3-4B"]
pd.DataFrame({"draft": names, "weights, GB in bf16": [article.weights_gb(name) for name in names]})

# %% [markdown]
# The article's 12 GB for a draft are four times the weights of the draft that it names. The rest would be its share of
# the KV cache, which vLLM takes from the memory that it has planned with anyway.
#
# ## What did one machine measure?
#
# Now the claims that are no code. Four stored runs of this project are opened: arms against each other, an agent cut
# after 1 to 30 steps, one to four agents at once, and drafters side by side. Put the ids of your own runs into the
# parameters to judge by them.

# %%
ids = {"factorial": RUN, "steps": RUN_STEPS, "interference": RUN_INTERFERENCE, "speculation": RUN_SPECULATION}
said: list[str] = []
runs = [measured(experiment, {}, "stored", name, said.append) for experiment, name in ids.items()]
print("\n".join(said))

# %%
found = article.evidence(answers, runs)
article_shown.gains_shown(found.seen)

# %% [markdown]
# A gain is seconds without the layer over seconds with it, or tokens per second the other way round, so above 1 is
# better. `n` counts requests. Metrics that came to one number share a row: with as many tokens, time and rate do.
#
# Levels are no gains. A hit rate is prompt tokens from the cache over all prompt tokens; tokens per round is what one
# round of speculation yields. Without an interval there were too few tasks for one, or none is computed.

# %%
article_shown.levels_shown(found.seen)

# %% [markdown]
# ## Does nothing survive a turn?
#
# The article says that vLLM keeps no KV between turns by default. Two things are asked: what does an engine do that is
# told nothing, and what did a cache serve where it was on? **Prediction**, the article's: nothing.

# %%
print(in_words(answers.of("default")))
hit_rates_figure(hit_rates_info(runs[0].steps()))

# %%
table = article.article_table(claims, found)
Markdown(told("nothing is reused between turns by default", *article_told.reuse_saw(answers, table)))

# %% [markdown]
# What limits reuse is something else: a prefix that differs by one token, blocks that are counted as wholes, eviction,
# a template that rewrites the past. The gap between bar and mark is all of that together.
#
# ## Every claim of the article
#
# Beside each: what this machine says, what others published on the same layer and metric (never joined with a
# measurement), the verdict, and the reason. A dash: nothing is known. The verdict is computed from the cells' own data.
#
# **Prediction:** most of the article cannot be seen on this machine.

# %%
table

# %%
Markdown(told("most of the article cannot be seen on this machine", *article_told.verdicts_saw(table)))

# %% [markdown]
# ## What do others claim, and how far is it from here?
#
# Filled marks are the gains that this machine measured, with their intervals. Hollow ones are what others published on
# the same metric, on their own hardware, models and loads, over their own baselines. They are near, not comparable.
# First the time to first token (TTFT), where caches and the split are at home.

# %%
gains = article.arm_gains_of(runs[0])
gains_figure(gains_info(gains, claims, "ttft_s"))

# %% [markdown]
# The widest ranges stand behind the smallest words: `up to`, one run, prompts made to share a prefix. **Vary one
# thing:** tokens per second, where drafters are at home, and of those only the claims that name an MI300X or MI355X.

# %%
gains_figure(gains_info(gains, article.on_hardware(claims, "MI3"), "tokens_per_s"))

# %% [markdown]
# ## And what was published on the hardware itself?
#
# The same table for what others say of `HARDWARE`. A gain from there can agree with one from here in direction only;
# a request rate or a goodput cannot be seen at all. **Prediction:** more than half of these claims cannot be seen here.

# %%
others = article.others_table(claims, found, HARDWARE)
others

# %%
prediction = "more than half of these claims cannot be seen here"
Markdown(told(prediction, *article_told.verdicts_saw(others)))

# %% [markdown]
# ## In practice
#
# What a reader of the article should change in their code, as the engine that was asked has it. Each line of today was
# put to it in the same way as the article's. Where nothing says the same, the nearest stands there with its limit; a
# line that is `accepted` exists, which is not to say that it does what the article's line promised.

# %%
Markdown(article_told.to_change(found))

# %% [markdown]
# - **Before a run, have the config classes read your settings.** Keys under `kv_connector_extra_config` are never
#   checked: look for the value in the connector's own config, as above, not in your file.
# - **Leave prefix caching on.** It is on by default, and it is the layer that needs nothing from you but a prompt that
#   only grows.
# - **Leave `max_num_seqs: 1` out** on the prefill side: it is taken, and would serialise prompts (by its meaning, not
#   measured). A split over NIXL worked without it here, which is no evidence for MoRI-IO.
# - **This machine cannot show** goodput, request rates or anything of MoRI-IO's transfers: those need the GPUs. On an
#   MI300X, set `PROFILE = "mi300x-8-qwen3-235b"` and the ids of runs from there; the cells stay the same.
# - The accepted lines are proven by vLLM's parser and config classes, not by a transfer on hardware.
