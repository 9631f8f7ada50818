"""An agent of one's own: recorded on the real engine, its log read, both replayed, and every prediction told."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from notebook_runs import FOLDER, execute, figures, printed, shown

from labkit.agents.tasks import load_task
from labkit.agents.tools import Toolbox
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.engines.fleet import Fleet
from labkit.experiments.lessons.own_agent import replayed_in
from labkit.store.runs import RunStore
from labkit.traffic.from_chat_log import from_chat_log
from labkit.traffic.recording import named, sha256

STEM = "08_your_own_agent"
SMALL = {"ARMS": ["base", "prefix"], "STEPS": 3}
DATA = FOLDER.parent / "data" / "lessons"


def written_by_the_notebook(folder: Path) -> dict:
    """The names in the cells that write the log, after they ran in `folder`."""
    space = {"FOLDER": folder, "json": json, "Path": Path}
    for cell in re.split(r"^# %%", (FOLDER / f"{STEM}.py").read_text(), flags=re.MULTILINE)[1:]:
        head, _, code = cell.partition("\n")
        if "own-files" in head:
            exec(code, space)
    return space


def stored(parameter: str) -> str:
    """A run's id as the parameters cell has it."""
    return re.search(rf'^{parameter} = "(.+)"$', (FOLDER / f"{STEM}.py").read_text(), re.MULTILINE)[1]


@pytest.mark.engine
def test_on_the_real_engine(real):
    done = execute(STEM, real, **SMALL)
    said, sentences = printed(done), " ".join(shown(done, "text/markdown"))
    assert "check passes before: False" in said
    assert "check passes after:  True" in said
    assert "recorded 3 steps" in said
    assert re.search(r"clocked-log\.jsonl line 2 request\.messages\[0\]", said)
    assert "a time or date that changes" in " ".join(shown(done, "text/html"))
    assert "As predicted:** after 3 calls decided by smollm2-135m the hidden check fails" in sentences
    assert "As predicted:** 6 of 6 checks of 3 recordings are ok" in sentences
    assert re.search(r"As predicted:\*\* [1-9]\d? % of \S+ prompt tokens came from the cache under prefix", sentences)
    assert "no drafts were measured under prefix+spec" in sentences
    assert "of the characters repeat (n = 3 steps)" in sentences
    assert said.count("live run ") == 2
    assert len(figures(done)) == 4
    live = [run for run in RunStore().runs() if run.info.experiment == "replay"]
    assert [replayed_in(run).header.name for run in live] == ["parcels", "late-fee"]
    assert {step.kind for step in replayed_in(live[1]).steps} == {"plan", "act", "answer"}


async def test_an_engine_of_ones_own_is_sent_the_log(no_engine):
    async with FakeEngine(FakeDials(model="mine", block_size=32)) as engine:
        done = await _in_a_thread(
            execute, STEM, no_engine, ENGINE="stored", BASE_URL=engine.base_url, MODEL="mine", BLOCK_SIZE=32
        )
    assert "No BASE_URL" not in printed(done)
    assert "hit_ceiling" in shown(done, "text/html")[-1]


async def _in_a_thread(work, *words, **named):
    import asyncio

    return await asyncio.to_thread(work, *words, **named)


def test_the_stored_runs_replayed_what_the_notebook_writes(tmp_path):
    """The task and the log are those that were measured; when one of them changes, measure again."""
    log = RunStore().open(stored("RUN_LOG"))
    written = written_by_the_notebook(tmp_path)
    assert sha256(replayed_in(log)) == sha256(from_chat_log(written["LOG"], name="parcels"))
    own, task = replayed_in(RunStore().open(stored("RUN"))), load_task(str(DATA / "late-fee"))
    assert task.goal.strip() in own.steps[0].append[1]["content"]
    with task.workspace() as workspace:
        told = {name: Toolbox(workspace).use(name, {}) for name in ("list_files", "run_tests")}
    results = [message["content"] for step in own.steps for message in step.append if message["role"] == "tool"]
    assert set(told.values()) <= set(results)


@pytest.mark.parametrize(("name", "parameter"), [("late-fee", "RUN"), ("parcels", "RUN_LOG")])
def test_what_the_stored_runs_name_is_in_the_project(name, parameter):
    run = RunStore().open(stored(parameter))
    assert run.info.asked["recording"] == f"data/lessons/{name}.jsonl"
    assert sha256(named(str(DATA / f"{name}.jsonl"))) == sha256(replayed_in(run))


def logger() -> str:
    """The code in the notebook's text that wraps the client of `openai`."""
    text = (FOLDER / f"{STEM}.py").read_text()
    (code,) = re.findall(r"^# ```python\n(.*?)^# ```$", text, re.MULTILINE | re.DOTALL)
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in code.splitlines())


@pytest.mark.engine
def test_the_logger_of_the_text_writes_what_the_reader_takes(real, monkeypatch):
    """A real client and a real engine: what the wrapper logs becomes a recording with counts and gaps."""
    import openai

    monkeypatch.chdir(real)
    engine = next(engine for engine in Fleet().ps() if engine.alive)
    with openai.OpenAI(base_url=f"{engine.base_url}/v1", api_key="none") as client:
        exec(logger(), {"client": client, "json": json, "time": SimpleNamespace(time=time.time)})
        messages: list = [{"role": "user", "content": "Count to three."}]
        for asked in ("And on to five.", "Thanks."):
            response = client.chat.completions.create(
                model=engine.model, messages=messages, max_tokens=12, temperature=0
            )
            messages += [response.choices[0].message, {"role": "user", "content": asked}]
        client.chat.completions.create(model=engine.model, messages=messages, max_tokens=12, temperature=0)
    recording = from_chat_log(real / "chat-log.jsonl")
    assert len(recording.steps) == 3
    assert recording.header.counted_by == engine.model
    prompts = [step.usage.prompt_tokens for step in recording.steps]
    assert None not in prompts
    assert prompts == sorted(prompts)
    assert [step.gap_s > 0 for step in recording.steps] == [False, True, True]
    assert recording.request(2).messages[-1] == {"role": "user", "content": "Thanks."}
