"""A live run that is looked at again and again: what is new is read, and what was seen never changes."""

from __future__ import annotations

import threading

import huge_run
import pandas as pd
import pytest
from builders import a_sample, a_step, chunks_at

from labkit.store.following import Following, happened
from labkit.store.layout import EVENTS
from labkit.store.runs import Run, RunStore
from labkit.store.tables import TABLES, compact_frame, to_frame


@pytest.fixture
def writer(tmp_path):
    with RunStore(tmp_path / "runs").create("quick", {}, {}) as writer:
        yield writer


def add(writer, turn: int) -> None:
    step = a_step(writer.id, turn=turn, t_send=float(turn), t_end=turn + 0.5)
    writer.step(step, chunks_at(step, turn + 0.1, turn + 0.2, turn + 0.3))
    writer.samples([a_sample(writer.id, t=float(turn))])
    writer.event("progress", stage="measuring", message="", done=turn)


def test_each_look_has_what_came_since_and_agrees_with_reading_it_whole(writer):
    following = Following(Run(writer.folder))
    for turn in range(1, 60):
        add(writer, turn)
        now = following.now()
        assert now.tables["steps"].num_rows == turn
    whole = Run(writer.folder)
    for table in TABLES:
        assert now.tables[table].equals(whole.arrow(table))
    assert now.version == whole.version


def test_a_snapshot_stays_as_it_was(writer):
    following = Following(Run(writer.folder))
    add(writer, 1)
    before = following.now()
    add(writer, 2)
    after = following.now()
    assert [before.tables["chunks"].num_rows, after.tables["chunks"].num_rows] == [3, 6]
    assert len(before.events) < len(after.events)
    assert following.now() is after


def test_what_is_thrown_away_is_marked_in_the_next_look_alone(writer):
    following = Following(Run(writer.folder))
    add(writer, 1)
    add(writer, 2)
    before = following.now()
    writer.void("base", 1.5, 9.0)
    add(writer, 3)
    after = following.now()
    assert before.tables["steps"].column("warmup").to_pylist() == [False, False]
    assert after.tables["steps"].column("warmup").to_pylist() == [False, True, False]
    assert after.tables["chunks"].column("warmup").to_pylist() == [False] * 3 + [True] * 3 + [False] * 3
    assert after.tables["chunks"].equals(Run(writer.folder).arrow("chunks"))


def test_a_line_that_is_being_written_waits_for_its_end(writer):
    following = Following(Run(writer.folder))
    add(writer, 1)
    whole = (writer.folder / EVENTS).read_bytes()
    (writer.folder / EVENTS).write_bytes(whole + b'{"t": 2.0, "type": "step", "st')
    assert following.now().tables["steps"].num_rows == 1
    (writer.folder / EVENTS).write_bytes(whole + b'{"t": 2.0, "type": "note"}\n')
    assert following.now().events[-1]["type"] == "note"


def test_a_damaged_line_is_left_out(writer):
    following = Following(Run(writer.folder))
    with (writer.folder / EVENTS).open("a") as file:
        file.write('broken\n{"t": 1, "type": "step", "step": {}, "chunks": []}\n')
    add(writer, 1)
    assert following.now().tables["steps"].num_rows == 1


def test_the_end_of_a_run_is_seen(writer):
    following = Following(Run(writer.folder))
    assert following.now().info.state == "running"
    writer.finish("cancelled", "stopped by the user")
    assert (following.now().info.state, following.now().info.note) == ("cancelled", "stopped by the user")


def test_many_may_look_at_once(writer):
    following, seen = Following(Run(writer.folder)), []

    def look() -> None:
        seen.extend(following.now().tables["steps"].num_rows for _ in range(40))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for turn in range(1, 30):
        add(writer, turn)
    for thread in threads:
        thread.join()
    assert following.now().tables["steps"].equals(Run(writer.folder).arrow("steps"))
    assert max(seen) <= 29


def test_events_without_what_is_in_the_tables(tmp_path):
    run = Run(tmp_path / huge_run.write(tmp_path, huge_run.Size(agents=3, turns=2, chunks=4, tasks=2)))
    whole = [event for event in run.events() if event["type"] != "samples"]
    lean = happened(run)
    assert lean == [{name: value for name, value in event.items() if name != "chunks"} for event in whole]
    assert {"run", "serving", "pass_done", "step", "finish"} <= {event["type"] for event in lean}


def test_the_huge_run_tells_the_same_with_and_without_its_tables(tmp_path):
    folder = tmp_path / huge_run.write(tmp_path, huge_run.Size(agents=3, turns=2, chunks=4, tasks=2))
    tables = {table: Run(folder).arrow(table) for table in TABLES}
    for table in TABLES:
        assert Run(folder).parquet(table)
        (folder / f"{table}.parquet").unlink()
    for table in TABLES:
        assert to_frame(tables[table]).equals(to_frame(Run(folder).arrow(table)))


def test_a_compact_frame_holds_the_same_values(tmp_path):
    folder = tmp_path / huge_run.write(tmp_path, huge_run.Size(agents=3, turns=2, chunks=4, tasks=2))
    run = Run(folder)
    plain = to_frame(run.arrow("chunks"))
    for compact in (compact_frame(run.arrow("chunks")), compact_frame(folder / "chunks.parquet")):
        pd.testing.assert_frame_equal(compact.astype(plain.dtypes), plain)
        assert list(compact["arm"].cat.categories) == sorted(plain["arm"].unique())
