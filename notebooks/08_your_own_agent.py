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
# # I have an agent. Which layer pays for it?
#
# **What you'll do:** bring an agent into the lab in three ways, read off its recording what each layer can give at
# most, and only then measure.
#
# **What you'll learn:** how to write a task, how to turn a log of another framework into a recording, what can be
# predicted before anything was measured, and how far to trust the prediction.
#
# **What you'll need:** the environment of `make setup` and the model (`labkit models fetch smollm2-135m-instruct`).
# Two cores and about four minutes with the values below; or nothing: `ENGINE = "stored"`.

# %% tags=["parameters"]
PROFILE = "cpu-smollm2"
STEPS = 8  # LLM calls that are recorded, and replayed
ARMS = ["base", "prefix", "prefix+spec"]
BASE_URL, MODEL, BLOCK_SIZE = "", "", 16  # your own engine, the model that it serves, tokens of a KV block
ENGINE = "live"  # "stored": open RUN and RUN_LOG, measure nothing
RUN = "20261130T210156Z-replay-3a78f3"
RUN_LOG = "20261130T203808Z-replay-715ecf"

# %%
import json
import tempfile
from pathlib import Path

import pandas as pd

pd.set_option("display.max_colwidth", None)
FOLDER = Path(tempfile.mkdtemp(prefix="labkit-own-"))  # all that this notebook writes

# %% [markdown]
# ## One way in: a task of your own
#
# A task is a folder. Copy one, such as `data/lessons/late-fee`, and change what is in it. The loop, its tools (list,
# search, read, edit, run tests) and its prompts are the lab's own.

# %%
from shutil import copytree

from labkit.core.paths import data_dir

TASK = copytree(data_dir() / "lessons" / "late-fee", FOLDER / "late-fee", dirs_exist_ok=True)
sorted(str(path.relative_to(TASK)) for path in TASK.rglob("*.*"))

# %% [markdown]
# `task.toml` says what is wanted, and when to stop. `workspace/` is what the agent sees, and it works on a copy. This
# package is wrong in one line: nobody takes the free day off.

# %%
print((TASK / "task.toml").read_text(), (TASK / "workspace/desk/fees.py").read_text(), sep="\n")

# %% [markdown]
# `workspace/tests/` are the tests that it may run, as often as it likes, and may not change. `check/` is the hidden
# check. The agent never sees it, so a fee that is written down for two days only does not satisfy it.
#
# One more file, if you like: `script.toml`, a solution that you know. A scripted model plays it through the same tools,
# which proves that the task can be solved, and that the check notices.

# %%
print((TASK / "check/test_hidden.py").read_text(), (TASK / "script.toml").read_text(), sep="\n")

# %% [markdown]
# **Prediction:** the script reaches the goal. First the check alone, on the workspace as it comes; then the script,
# and the check again.

# %%
from labkit.agents.tasks import load_task
from labkit.experiments.lessons.own_agent import played
from labkit.experiments.lessons.own_shown import steps_shown

task = load_task(str(TASK))
with task.workspace() as untouched:
    print("check passes before:", task.check(untouched).passed)
script = played(TASK, PROFILE, FOLDER / "runs")
print("check passes after: ", script.outcome.reached)

# %%
steps_shown(script.recording)

# %% [markdown]
# No engine was there, so nobody counted tokens: a dash. The tools, the workspace and the verdict are real. A folder
# that lacks a part is refused by name:

# %%
from labkit.core.errors import BadInput

_ = (TASK / "check").rename(TASK / "put aside")
try:
    load_task(str(TASK))
except BadInput as refused:
    print(refused)
_ = (TASK / "put aside").rename(TASK / "check")

# %% [markdown]
# Now the profile's own model decides, and each request, reply and tool result is kept. In a terminal:
# `labkit record --task ./late-fee --out late-fee.jsonl`. **Prediction:** a model of 135 million parameters does not
# repair it.

# %%
from labkit.experiments.lessons.own_agent import recorded
from labkit.traffic.recording import save

own = recorded(TASK, PROFILE, STEPS, FOLDER / "runs", ENGINE, RUN)
OWN = save(own, FOLDER / "late-fee.jsonl")
steps_shown(own)

# %%
from IPython.display import Markdown, display

from labkit.experiments.lessons.own_told import solved
from labkit.experiments.lessons.told import told

Markdown(told("the model does not repair it", *solved(own)))

# %% [markdown]
# That is no reason to throw the recording away. Cost is asked about, and a failed attempt is paid for, too.
# Whether an arm solves *fewer* tasks is another question: `labkit run confirm` asks it.
#
# ## Second way in: the log of an agent that you have
#
# Any framework that speaks the OpenAI API can log what the lab needs: a line a call, request beside response. With the
# `openai` package it takes a wrapper around one method:
#
# ```python
# def logged(create, path="chat-log.jsonl"):
#     def and_logged(**request):
#         sent = time.time()
#         response = create(**request)
#         line = {"request": request, "response": response.model_dump(), "t_send": sent, "t_end": time.time()}
#         with open(path, "a") as log:
#             log.write(json.dumps(line, default=lambda part: part.model_dump(exclude_none=True)) + "\n")
#         return response
#
#     return and_logged
#
#
# client.chat.completions.create = logged(client.chat.completions.create)
# ```

# %% [markdown]
# Here is such a log, of a support agent with one tool. It is written by hand, so that this cell needs no model; yours
# comes from your agent. As with many streamed responses, there is no `usage` in it.

# %% tags=["own-files"]
RULES = """You answer customers of a parcel service. Look a parcel up before you speak about it.
Say the day and the place of the last scan, never a guess. Be brief. Promise nothing that no scan shows."""
number = {"type": "object", "properties": {"number": {"type": "string"}}, "required": ["number"]}
track = {"name": "track", "description": "All scans of a parcel, oldest first.", "parameters": number}
places = ("Aachen", "Bochum", "Celle", "Detmold", "Emden", "Fulda")
scans = [{"day": f"June {day}", "place": place, "state": "passed on"} for day, place in enumerate(places, 3)]

# %% tags=["own-files"]
TALK = [{"role": "system", "content": RULES}]
asked = {"K-104": "Where is my parcel K-104?", "K-2207": "And K-2207, sent a day later?", "K-9": "And K-9?"}
for n, (parcel, question) in enumerate(asked.items()):
    function, last = {"name": "track", "arguments": json.dumps({"number": parcel})}, scans[5 - n]
    call = {"id": f"call-{n}", "type": "function", "function": function}
    TALK += [
        {"role": "user", "content": question},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call-{n}", "content": json.dumps(scans[: 6 - n])},
        {"role": "assistant", "content": f"It was scanned in {last['place']} on {last['day']} and passed on."},
    ]

# %% [markdown]
# Every assistant message is the response to a request that holds all messages before it.

# %% tags=["own-files"]
body = {"model": "my-model", "tools": [{"type": "function", "function": track}], "max_tokens": 40}
lines = [
    {"request": {**body, "messages": TALK[:n]}, "response": {"choices": [{"message": message}]}}
    for n, message in enumerate(TALK)
    if message["role"] == "assistant"
]
LOG = FOLDER / "parcels-log.jsonl"
_ = LOG.write_text("".join(json.dumps(line) + "\n" for line in lines))

# %% [markdown]
# Many agents put the time into their first message. Let this one do so in each request, and look at what becomes of it.

# %%
clocked = json.loads(json.dumps(lines))
for n, line in enumerate(clocked):
    line["request"]["messages"][0]["content"] = f"It is 09:1{n}. {RULES}"
CLOCKED = FOLDER / "clocked-log.jsonl"
_ = CLOCKED.write_text("".join(json.dumps(line) + "\n" for line in clocked))

# %% [markdown]
# **Prediction:** it cannot become a recording. A recording only appends, as a prefix cache only finds what nobody has
# touched.

# %%
from labkit.traffic.from_chat_log import from_chat_log

try:
    from_chat_log(CLOCKED)
except BadInput as refused:
    print(refused)

# %% [markdown]
# The error names the line and the message. The doctor says why, on the very same file (`labkit doctor --recording
# clocked-log.jsonl`). *Requests as sent* compares the bytes; *as the template writes them* compares the prompts
# that the profile's model would read, and says `unknown` where its template is not on this machine.

# %%
from labkit.experiments.check_up import prompts
from labkit.experiments.lessons.own_shown import checks_shown

checks_shown({"clocked-log": prompts(PROFILE, str(CLOCKED))})

# %% [markdown]
# The cure is to move the clock into the newest message. The first log has none, and is read. In a terminal: `labkit
# import-log parcels-log.jsonl --out parcels.jsonl`. Tool calls and results are kept; what the log does not say stays a
# dash.

# %%
parcels = from_chat_log(LOG, name="parcels")
PARCELS = save(parcels, FOLDER / "parcels.jsonl")
print(parcels.header.note)
steps_shown(parcels)

# %% [markdown]
# ## Third way in: a recording that is there
#
# `labkit recordings` lists those that come with the project. This one was decided by the small model, too.

# %%
from labkit.traffic.recording import named

shipped = named("ranks-that-jump-live")
shipped.header.task, len(shipped.steps), shipped.header.decided_by

# %% [markdown]
# ## Check it before you measure
#
# Where does the prompt prefix break? **Prediction:** nowhere, in all three, or they would not have become recordings.
# Only a template could still spoil it.

# %%
from labkit.experiments.lessons.own_told import prefixes_hold

checks = {name: prompts(PROFILE, str(path)) for name, path in (("late-fee", OWN), ("parcels", PARCELS))}
checks["ranks-that-jump-live"] = prompts(PROFILE, "ranks-that-jump-live")
display(checks_shown(checks))
Markdown(told("no prefix breaks", *prefixes_hold(checks)))

# %% [markdown]
# ## What can each layer give at most?
#
# Three numbers can be read off a recording. The share of the prompt that *repeats* is the most that prefix caching can
# save. What is *read for each character written* says how much decode there is for speculation. And what a reply
# *copies* (a word that follows the same two words as before) bounds n-gram drafts.

# %%
from labkit.engines.profiles import load_profile
from labkit.experiments.lessons.own_shown import promises_shown
from labkit.experiments.lessons.promised import promised, promised_by_turn

profile = load_profile(PROFILE)
promises_shown(promised([own, parcels, shipped], profile))

# %% [markdown]
# Tokens count whole blocks of the profile's size, as the cache does; characters know no blocks, so they promise more. A
# piece is a word or a sign, which is coarser than a token. The bound on drafts is therefore a crude one.

# %%
from labkit.plots.promised import promised_figure, promised_info

turns = promised_by_turn(own, profile)
promised_figure(promised_info(turns, "late-fee"))

# %% [markdown]
# To make seconds of it, a pace is needed. The engine told its own when it was recorded: seconds for a prompt token that
# it computed, and for a token that it wrote. A log has no such times; borrow the pace of another recording.

# %%
from labkit.experiments.lessons.own_predicted import pace, pace_in_words, predicted
from labkit.experiments.lessons.own_shown import beside

told_pace = pace(own)
print(pace_in_words(told_pace))
should = predicted(turns, told_pace, ARMS)
beside(should)

# %% [markdown]
# ## Measure, and hold it against the prediction
#
# Now, and only now, an engine answers: the same requests under each arm.

# %%
from labkit.analysis.arms import arm_table
from labkit.experiments.lessons.measured import measured

run = measured("replay", {"profile": PROFILE, "recording": str(OWN), "arms": ARMS}, ENGINE, RUN)
steps = run.steps()
table = arm_table(steps, run.chunks())

# %% [markdown]
# **Prediction 1:** the cache serves what repeats, to the block. The model says the same as when it was recorded, so its
# own replies are found again, too.

# %%
from labkit.experiments.lessons.own_told import cache_serves, drafts_stay_below, pays_most, takes_as_long

Markdown(told("the cache serves all that repeats, and no more", *cache_serves(turns, table)))

# %%
from labkit.plots.tokens_per_turn import tokens_per_turn_figure, tokens_per_turn_info

tokens_per_turn_figure(tokens_per_turn_info(steps, "prefix"))

# %% [markdown]
# **Prediction 2:** two paces give the time of base, and that of prefix. They know nothing of what a step costs besides
# its tokens, nor that decode slows down as the prompt grows, so they should be off by up to a quarter.

# %%
display(beside(should, table))
display(Markdown(told("two paces give the time of base to within a quarter", *takes_as_long(should, table, "base"))))
Markdown(told("they give the time of prefix to within a quarter, too", *takes_as_long(should, table, "prefix")))

# %% [markdown]
# **Prediction 3:** drafts yield no more tokens a pass than copying allows. If they do, it is because pieces are coarse:
# a tokenizer cuts names and indents into several tokens, and each can be drafted.

# %%
Markdown(told("drafts stay below the bound", *drafts_stay_below(turns, steps, "prefix+spec")))

# %% [markdown]
# ## Which layer pays for it?
#
# **Prediction 4:** the layer that should save more seconds does. The figure shows where the seconds are that each could
# shorten: prefix caching those before the first token, drafts those after it.

# %%
from labkit.plots.wall_ledger import wall_ledger_figure, wall_ledger_info

wall_ledger_figure(wall_ledger_info(steps))

# %% [markdown]
# The table of the arms is read from the left: how caching was switched, whether all steps came through, then the
# times, and last whether the ratio has enough pairs to be believed.

# %%
from labkit.experiments.lessons.first_look import arms_shown

display(arms_shown(table))
Markdown(told("the layer that should save more seconds does", *pays_most(should, steps, "prefix+spec")))

# %% [markdown]
# ## Vary one thing: the agent
#
# The log had no token counts, so characters must do. **Prediction 5:** the cache serves less than the share of
# characters that repeats: only whole blocks are found, and this engine's replies are not the logged ones.

# %%
from labkit.experiments.lessons.own_told import text_bounds_the_cache

question = {"profile": PROFILE, "recording": str(PARCELS), "arms": ["base", "prefix"], "steps": STEPS}
log_run = measured("replay", question, ENGINE, RUN_LOG)
log_table = arm_table(log_run.steps(), log_run.chunks())
held = text_bounds_the_cache(promised_by_turn(parcels, profile), log_table)
Markdown(told("the share of characters is an upper bound", *held))

# %%
tokens_per_turn_figure(tokens_per_turn_info(log_run.steps(), "prefix"))

# %% [markdown]
# ## Send it to your own engine
#
# The engine need not be one that the lab started. Give the notebook a `BASE_URL` and the `MODEL` that is served there,
# and the log is replayed on it: base by a fresh cache salt on every request, so prefix caching must be on and the
# server must know vLLM's `cache_salt`.

# %%
from labkit.experiments.lessons.own_agent import command_at, replayed_at

if BASE_URL:
    yours = replayed_at(BASE_URL, MODEL, BLOCK_SIZE, PARCELS, FOLDER / "runs")
    display(arm_table(yours.steps(), yours.chunks())[["arm", "e2e_s", "hit_rate", "hit_ceiling", "n_pairs"]])
else:
    print("No BASE_URL is given, so nothing is sent. The same in a terminal:")
    print(command_at("parcels.jsonl", BLOCK_SIZE))

# %% [markdown]
# ## In practice
#
# - Log a day of your agent, `labkit import-log` it, and look at two numbers first: how much of the prompt repeats, and
#   where the prefix breaks. A broken prefix is the cheapest thing to repair, and no layer makes up for it.
# - Switch prefix caching on where much repeats. Try drafts where replies
#   copy; a bound near one piece a pass says that n-gram drafts cannot pay.
# - The bound is for n-gram drafts alone. A draft model or EAGLE guesses words that were never there: measure it.
# - This machine cannot show what a split of prefill and decode gives: both sides share two cores. Nor can one agent
#   show what company costs: `labkit run interference`.
# - One pass over a few steps is a first look. For a result: `labkit replay mine.jsonl --repeats 3 --seed 1
#   --drift-check`.
# - Next: `09_article_check`, which holds an article's claims against what this lab has seen.
