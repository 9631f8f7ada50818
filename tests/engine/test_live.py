"""A live run on the real engine: prefix caching toggled by salt within a lap, speculation started and left again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit.core.arms import BASE, arm_named
from labkit.core.paths import models_dir
from labkit.engines.fleet import Fleet
from labkit.experiments import jobs, live
from labkit.experiments.jobs import JobStatus
from labkit.experiments.live import Choice
from labkit.store.runs import Run

pytestmark = pytest.mark.engine


@pytest.fixture
def machine(model_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A store and a fleet of its own, with the session's model; whatever goes on at the end is ended."""
    monkeypatch.setenv("LABKIT_MODELS", str(models_dir()))
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path / "state"))
    yield
    for job in jobs.jobs():
        jobs.cancel(job.id)
    Fleet().down()


def until(job_id: str, happened: Callable[[JobStatus], bool], seconds: float = 240.0) -> JobStatus:
    deadline = time.monotonic() + seconds
    while not happened(now := jobs.status(job_id)):
        assert now.state in ("starting", "running"), (now.log_tail, now.run and now.run.info.note)
        assert time.monotonic() < deadline, now.run and now.run.events()[-3:]
        time.sleep(0.2)
    return now


def told(run: Run | None, kind: str) -> list[dict[str, Any]]:
    return [event for event in run.events() if event["type"] == kind] if run else []


def sent_by(now: JobStatus, arm: str) -> list[dict[str, Any]]:
    return [event for event in told(now.run, "sent") if event["arm"] == arm]


@pytest.mark.usefixtures("machine")
def test_layers_are_toggled_while_an_agent_works():
    choice = Choice(profile="cpu-smollm2", arm=BASE, recording="ranks-that-jump-live", steps=3, laps=0)
    job = live.start(choice)
    until(job.id, lambda now: len(sent_by(now, "base")) >= 2)
    live.steer(job.id, arm_named("prefix"))
    until(job.id, lambda now: len([e for e in told(now.run, "lap") if e["arm"] == "prefix"]) >= 2)
    live.steer(job.id, arm_named("spec"))
    until(job.id, lambda now: len(sent_by(now, "spec")) >= 2)
    live.steer(job.id, BASE)
    until(job.id, lambda now: [e["arm"] for e in told(now.run, "switch")][-1] == "base")
    done = until(job.id, lambda now: sent_by(now, "base")[-1]["t"] > told(now.run, "switch")[-1]["t"]).run
    assert jobs.cancel(job.id).state == "cancelled"
    assert done is not None
    assert not [engine for engine in Fleet().ps() if engine.alive]

    salt, start, back = told(done, "switch")[1:]
    assert (salt["arm"], salt["warm"], start["arm"], start["warm"]) == ("prefix", True, "spec", False)
    assert (back["arm"], back["warm"]) == ("base", True)
    for switch in (salt, back):  # between warm arms: at once
        assert switch["waited_s"] < 1.0
    said = [event for event in told(done, "progress") if event["stage"] == "starting spec"]
    assert len(said) >= 5
    assert "s of ~" in said[-1]["message"]
    steps = done.steps()
    rows = steps[~steps["warmup"]]
    ready = told(done, "first_counters")[-2]["t"]  # spec's engine is up: nothing was measured beside its start
    assert not ((rows["t_end"] > said[1]["t"] + 0.5) & (rows["t_send"] < ready)).any()

    ended = rows[rows["error"].isna()]
    assert (ended[ended["arm"] == "base"]["cached_tokens"] == 0).all()
    lap = ended[(ended["arm"] == "prefix") & (ended["condition"] == "")]
    lap = lap[lap["repeat"] == 0]
    assert lap["cached_tokens"].sum() > 0
    assert lap["cached_tokens"].sum() <= lap["ceiling_tokens"].sum()
    assert lap["server_s"].notna().all()
    toggled = ended[ended["condition"] != ""]
    assert set(toggled["condition"]) <= {"toggled from base", "toggled from prefix", "toggled from spec"}
    assert not ended.duplicated(["arm", "task", "recording", "agent", "condition", "cache", "repeat", "turn"]).any()
    gauges = done.samples()
    assert {"host", "client"} <= set(gauges["source"])
    assert gauges["source"].str.endswith("/engine").any()
