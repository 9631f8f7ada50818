"""The first notebook measures and draws: on an engine that answers like vLLM in all its arms, and on the real one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import fake_vllm
import papermill
import pytest
from notebook_runs import MARKDOWN, execute, figures, printed, shown
from synthetic import recording

from labkit.core.arms import arm_named
from labkit.engines.fleet import Fleet
from labkit.store.runs import RunStore
from labkit.traffic.recording import save

STEM = "00_quickstart"
SMALL = {"STEPS": 5, "ARMS": ["base", "prefix"]}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store, a fleet and a recording of this test's own."""
    for variable in ("RUNS", "STATE", "DATA"):
        monkeypatch.setenv(f"LABKIT_{variable}", str(tmp_path / variable.lower()))
    save(recording(), tmp_path / "data" / "recordings" / "tiny.jsonl")
    yield tmp_path
    Fleet().down()


@pytest.fixture
def fake(machine: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A profile whose `vllm` is the fake engine."""
    profile, path = fake_vllm.install(machine / "fake", os.environ["PATH"])
    monkeypatch.setenv("PATH", path)
    return str(profile)


def test_it_measures_and_draws_and_a_stored_run_draws_the_same(machine: Path, fake: str):
    arms = ["base", "prefix", "prefix+spec"]
    done = execute(STEM, machine, PROFILE=fake, RECORDING="tiny", STEPS=3, ARMS=arms)
    assert len(figures(done)) == 5
    assert all(figure["data"] for figure in figures(done))
    assert "live run " in printed(done)
    stored = execute(STEM, machine, PROFILE=fake, ARMS=arms, ENGINE="stored", RUN="latest")
    assert figures(stored) == figures(done)
    assert "stored run " in printed(stored)


def test_with_few_steps_no_prediction_is_called_right_or_wrong(machine: Path, fake: str):
    done = execute(STEM, machine, PROFILE=fake, RECORDING="tiny", STEPS=2, ARMS=["base", "prefix"])
    said = shown(done, MARKDOWN)
    assert len(said) == 3
    assert all(text.startswith("**Too few to tell:**") for text in said)


def test_a_failing_cell_fails_the_test(machine: Path, fake: str):
    with pytest.raises(papermill.PapermillExecutionError, match="no-such-recording"):
        execute(STEM, machine, PROFILE=fake, RECORDING="no-such-recording")


def first_token(turn: int, arm: str) -> float:
    """Seconds to the first token of this turn, in the newest run."""
    steps = RunStore().open("latest").steps()
    (step,) = steps[(steps["arm"] == arm) & (steps["turn"] == turn) & ~steps["warmup"]].to_dict("records")
    return step["t_first_token"] - step["t_send"]


@pytest.mark.engine
def test_on_the_real_engine(real: Path):
    done = execute(STEM, real, **SMALL)
    assert all(figure["data"] for figure in figures(done)[:4])
    own_part, waits = shown(done, MARKDOWN)[1:]
    assert "n = 5 steps in each arm" in own_part
    assert waits.startswith("**Too few to tell:**")
    assert "(n = 4 turns in each arm)" in waits
    assert first_token(5, "base") > 2 * first_token(5, "prefix")
    (table,) = [text for text in shown(done, "text/html") if "as fast as base" in text]
    assert all(arm_named(arm).label in table for arm in SMALL["ARMS"])
    assert "(n 5)" in table
