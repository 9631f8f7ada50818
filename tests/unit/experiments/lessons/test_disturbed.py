"""A run that was stopped, or that others disturbed, tells no time."""

from pathlib import Path

import pytest

from labkit.experiments.lessons.disturbed import disturbed
from labkit.experiments.verdict import Tally, verdict
from labkit.store.runs import Run, RunStore


def a_run(folder: Path, state: str = "done", note: str = "") -> Run:
    store = RunStore(folder)
    with store.create("replay", {}, {}) as writer:
        writer.finish(state, note)
    return store.open(writer.id)


def test_quiet_runs_tell_their_times(tmp_path):
    assert disturbed([]) == ""
    assert disturbed([a_run(tmp_path), a_run(tmp_path, "partial", "base: 1 of 9 steps failed.")]) == ""


def test_the_one_that_was_disturbed_is_named_by_what_the_runner_notes(tmp_path):
    tally = Tally()
    tally.measured["prefix"] = 5
    tally.disturbed["prefix"] = 1.2
    busy = a_run(tmp_path, *verdict(["prefix"], tally))
    assert disturbed([a_run(tmp_path), busy]) == f"others kept the machine busy during run {busy.id}"


@pytest.mark.parametrize("note", ["", "stopped by the user"])
def test_a_cancelled_run_tells_none(tmp_path, note):
    cut = a_run(tmp_path, "cancelled", note)
    assert disturbed([cut]) == f"run {cut.id} was cancelled"
    other = a_run(tmp_path, "cancelled", note)
    assert disturbed([cut, other]) == f"run {cut.id} and run {other.id} were cancelled"
