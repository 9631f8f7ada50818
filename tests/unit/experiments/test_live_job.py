"""A live run as a page starts it: a process of its own, engines that are processes, steered from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import fake_vllm
import pytest
from synthetic import recording
from typer.testing import CliRunner

from labkit.cli import build
from labkit.core.arms import BASE, Arm, arm_named
from labkit.core.errors import BadInput, LabError, NotEnoughMemory, UnknownName
from labkit.engines.fleet import Fleet
from labkit.engines.profiles import load_profile
from labkit.experiments import jobs, live
from labkit.experiments.jobs import JobStatus
from labkit.experiments.live import Choice
from labkit.experiments.warm_provider import WarmProvider
from labkit.experiments.words import asked_in_words
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import save

PREFIX = Arm(prefix_caching=True)
GIB = 1 << 30


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A profile whose `vllm` is the fake; what is up at the end is ended."""
    for variable in ("RUNS", "STATE", "MODELS", "DATA"):
        monkeypatch.setenv(f"LABKIT_{variable}", str(tmp_path / variable.lower()))
    save(recording("tiny", turns=5), tmp_path / "data" / "recordings" / "tiny.jsonl")
    file, path = fake_vllm.install(tmp_path / "fake", os.environ["PATH"])
    monkeypatch.setenv("PATH", path)
    yield str(file)
    for job in jobs.jobs():
        jobs.cancel(job.id)
    Fleet().down()


def until(job_id: str, happened: Callable[[JobStatus], bool], seconds: float = 60.0) -> JobStatus:
    deadline = time.monotonic() + seconds
    while not happened(now := jobs.status(job_id)):
        assert time.monotonic() < deadline, now.log_tail
        time.sleep(0.1)
    return now


def told(run: Run | None, kind: str) -> list[dict[str, Any]]:
    return [event for event in run.events() if event["type"] == kind] if run else []


def test_steered_from_outside_stopped_and_asked_again(profile: str):
    choice = Choice(profile=profile, arm=PREFIX, recording="tiny", agents=2, laps=0)
    job = live.start(choice)
    until(job.id, lambda now: len(told(now.run, "lap")) > 0)
    live.steer(job.id, arm_named("spec"))
    until(job.id, lambda now: "spec" in [event["arm"] for event in told(now.run, "sent")])
    words = [sys.executable, "-m", "labkit", "steer", "base"]
    said = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "base from the next step on" in said.stdout
    now = until(job.id, lambda now: [event["arm"] for event in told(now.run, "switch")][-2:] == ["spec", "base"])
    steer, switch = told(now.run, "steer")[-1], told(now.run, "switch")[-1]
    sent = until(job.id, lambda now: any(e["t"] > switch["t"] for e in told(now.run, "sent"))).run
    first = next(e for e in told(sent, "sent") if e["t"] > switch["t"])
    assert first["arm"] == "base"
    assert first["t"] - steer["t"] < 2.0
    assert len([engine for engine in Fleet().ps() if engine.alive]) == 2  # side by side
    assert any(event["neighbours"] for event in told(sent, "serving"))
    assert live.can_steer(jobs.status(job.id))
    ended = jobs.cancel(job.id)
    assert ended.state == "cancelled"
    assert not live.can_steer(ended)
    assert not [engine for engine in Fleet().ps() if engine.alive]
    assert "stood by idle" in ended.run.info.note
    assert asked_in_words("live", ended.run.info.asked) == choice.command().replace(" --arms base,prefix", "")

    with pytest.raises(BadInput, match="a live run that goes on"):
        live.steer(job.id, BASE)
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (said.returncode, "No live run goes on" in said.stderr) == (1, True)

    again = live.flip_and_repeat(ended.run.id, arm_named("prefix+spec"))
    done = until(again.id, lambda now: now.state not in ("starting", "running"))
    assert done.state == "done", done.log_tail
    asked = done.run.info.asked
    assert (asked["arms"], asked["agents"], asked["laps"]) == (["prefix+spec"], 2, 1)
    assert asked["beside"] == ended.run.id
    [others] = told(done.run, "bystanders")
    assert (others["arm"], others["repeat"]) == ("prefix+spec", 0)
    assert others["cores"] >= 0
    assert [engine.plan.arm for engine in Fleet().ps() if engine.alive] == ["prefix+spec"]  # the last one stays warm


def test_of_two_who_press_run_at_once_one_starts_and_one_is_told_why_not(profile: str):
    choice = Choice(profile=profile, arm=PREFIX, recording="tiny", laps=0)
    with ThreadPoolExecutor(2) as hands:
        pressed = [hands.submit(live.start, choice) for _ in range(2)]
    (refusal,) = [error for each in pressed if (error := each.exception())]
    assert isinstance(refusal, LabError)
    assert "a live run goes on already" in str(refusal)
    (job,) = jobs.jobs()
    until(job.id, lambda now: now.run is not None)
    jobs.cancel(job.id)


def test_a_terminal_prints_what_was_switched(profile: str):
    words = ["run", "live", "--profile", profile, "--recording", "tiny", "--no-gaps", "--steps", "2", "--json"]
    done = subprocess.run([sys.executable, "-m", "labkit", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert [(arm["arm"], arm["n_steps"]) for arm in said["arms"]] == [("base", 2), ("prefix", 2)]
    assert [(each["was"], each["arm"], each["warm"]) for each in said["switches"]] == [("base", "prefix", True)]
    for command in ("show", "ledger", "report"):
        shown = CliRunner().invoke(build(), [command, "latest"])
        assert shown.exit_code == 0, shown.output


def test_what_is_wrong_is_said_before_a_process_is_started(profile: str):
    with pytest.raises(UnknownName, match="tiny"):
        live.start(Choice(profile=profile, arm=PREFIX, recording="tinny"))
    with pytest.raises(BadInput, match="exactly one"):
        live.start(Choice(profile=profile, arm=PREFIX))
    assert jobs.jobs() == []
    with RunStore().create("load", {"profile": profile, "recordings": ["tiny"]}, {}) as run:
        pass
    with pytest.raises(BadInput, match="replayed one recording"):
        live.flip_and_repeat(run.id, PREFIX)


@pytest.mark.parametrize("wanted_by", ["labkit up", "another run"])
async def test_an_engine_that_somebody_else_wants_makes_no_room(profile: str, wanted_by: str):
    fleet, left = Fleet(), []
    provider = WarmProvider(fleet, load_profile(profile))

    async def leaving(engine: str) -> None:
        left.append(engine)

    provider.leaving = leaving
    engine = fleet.get((await provider.serve(BASE)).engine)
    fleet.free = lambda: 0
    with ExitStack() as stack:
        if wanted_by == "labkit up":
            fleet.adopt(engine)
        else:
            stack.enter_context(fleet.lock(engine, wanted_by))
        with pytest.raises(NotEnoughMemory):
            await provider.serve(arm_named("spec"))
    assert left == []
    assert fleet.get(engine.id).alive


@pytest.mark.parametrize(("room", "up"), [(0.25, ["base", "spec"]), (0.15, ["spec"])])
async def test_the_engine_that_served_longest_ago_makes_room(profile: str, room: float, up: list[str]):
    fleet = Fleet()
    fleet.free = lambda: (
        int(room * GIB)
        - sum(process.memory_bytes for engine in fleet.ps() if engine.alive for process in engine.plan.layout)
    )
    provider, left = WarmProvider(fleet, load_profile(profile)), []

    async def leaving(engine: str) -> None:
        left.append(engine)

    provider.leaving = leaving
    first = await provider.serve(BASE)
    second = await provider.serve(arm_named("spec"))
    assert sorted(engine.plan.arm for engine in fleet.ps() if engine.alive) == up
    assert left == ([] if len(up) == 2 else [first.engine])
    assert second.neighbours == ((first.engine,) if len(up) == 2 else ())
    fleet.free = lambda: 0
    with pytest.raises(NotEnoughMemory):
        await provider.serve(arm_named("prefix+pd"))
    assert (
        sorted(engine.plan.arm for engine in fleet.ps() if engine.alive) == up
    )  # none is ended where that would not help
    assert await provider.close(keep=True) == [second.engine]
