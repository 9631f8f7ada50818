"""A run that ended before it was complete goes on in its own folder."""

from pathlib import Path

import pytest
from builders import a_step, chunks_at

from labkit.core.clock import FakeClock
from labkit.core.errors import LabError
from labkit.core.records import RunState
from labkit.store.layout import Owner, read_run_json, write_run_json
from labkit.store.runs import RunStore, RunWriter


def sent(run: RunWriter, clock: FakeClock, arm: str, turn: int) -> None:
    """A step of one second, sent now."""
    step = a_step(run.id, arm=arm, turn=turn, t_send=run.now(), t_end=run.now() + 1)
    run.step(step, chunks_at(step, run.now() + 0.5))
    clock.advance(1)


def killed(run: RunWriter) -> None:
    """As `kill -9` leaves it: never finished, and written by a process that is gone."""
    run.close()
    write_run_json(run.folder, read_run_json(run.folder)[0], Owner(2**22 + 1, 0.0))


@pytest.mark.parametrize("state", ["cancelled", "partial"])
def test_the_clock_goes_on_and_the_new_end_counts(store: RunStore, clock: FakeClock, state: RunState):
    run = store.create("quick", {"steps": 2}, {"python": "3.11"})
    clock.advance(3)
    sent(run, clock, "base", 1)
    run.finish(state, "stopped by the user")
    clock.advance(60)
    again = store.resume(store.open(run.id), differs=[])
    assert (again.id, again.folder, again.now()) == (run.id, run.folder, 64)
    opened = store.open(run.id)
    assert opened.live
    assert opened.info.note == ""
    sent(again, clock, "base", 2)
    again.finish("done")
    opened = store.open(run.id)
    assert opened.info.state == "done"
    assert opened.steps()["t_send"].tolist() == [3, 64]
    assert opened.parquet("steps")
    (event,) = (event for event in opened.events() if event["type"] == "resume")
    assert (event["was"], event["break_s"], event["t"], event["differs"]) == (state, 60, 64, [])


def test_a_clock_that_was_set_back_does_not_take_the_run_back(store: RunStore, clock: FakeClock):
    run = store.create("quick", {}, {})
    clock.advance(50)
    run.event("stage")
    run.finish("cancelled")
    clock.advance(-40)
    assert store.resume(store.open(run.id)).now() == 50


def test_after_a_kill_the_torn_line_is_cut_and_the_run_goes_on(store: RunStore, clock: FakeClock):
    run = store.create("quick", {}, {})
    sent(run, clock, "base", 1)
    killed(run)
    with (run.folder / "events.jsonl").open("ab") as file:
        file.write(b'{"t": 2, "type": "st')
    assert store.open(run.id).info.state == "partial"
    with store.resume(store.open(run.id)) as again:
        sent(again, clock, "base", 2)
    opened = store.open(run.id)
    assert opened.problems() == []
    assert opened.steps()["turn"].tolist() == [1, 2]
    (event,) = (event for event in opened.events() if event["type"] == "resume")
    assert event["torn_bytes"] == 20


def test_a_second_kill_is_not_hidden_by_the_first_end(store: RunStore, clock: FakeClock):
    run = store.create("quick", {}, {})
    sent(run, clock, "base", 1)
    run.finish("cancelled", "stopped by the user")
    killed(store.resume(store.open(run.id)))
    assert store.open(run.id).info.state == "partial"
    assert "ended" in store.open(run.id).info.note


def test_a_run_that_still_goes_on_is_left_to_its_writer(store: RunStore):
    run = store.create("quick", {}, {})
    with pytest.raises(LabError, match="still goes on"):
        store.resume(store.open(run.id))
    run.finish("cancelled")
    stale = store.open(run.id)
    store.resume(store.open(run.id))
    with pytest.raises(LabError, match="still goes on"):  # what was read before somebody else resumed it
        store.resume(stale)


def test_what_is_void_stays_and_counts_no_more(store: RunStore, clock: FakeClock, tmp_path: Path):
    run = store.create("quick", {}, {})
    sent(run, clock, "base", 1)
    sent(run, clock, "prefix", 1)
    sent(run, clock, "base", 2)
    run.void("base", 2.0, 3.0, why="half done")
    sent(run, clock, "base", 2)
    live = store.open(run.id).steps()
    run.finish("done")
    opened = store.open(run.id)
    steps, chunks = opened.steps(), opened.chunks()
    assert steps.equals(live)
    for table in (steps, chunks):
        assert table["warmup"].tolist() == [False, False, True, False]
        assert table["turn"].tolist() == [1, 1, 2, 2]
    assert opened.problems() == []
