"""One opened run that several threads read at once, as a dashboard's tabs do: each finds the whole of it, once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from builders import a_sample, a_step, chunks_at

from labkit.experiments.dashboard.opened import Opened
from labkit.store.layout import EVENTS
from labkit.store.runs import Run, RunStore
from labkit.store.table_rows import rows_where

STEPS, CHUNKS = 200, 20


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Ended, with a damaged line, and without its tables: they are made from the events."""
    with RunStore(tmp_path_factory.mktemp("runs")).create("quick", {}, {}) as writer:
        for turn in range(STEPS):
            step = a_step(writer.id, turn=turn, t_send=float(turn), t_end=turn + 1.0)
            writer.step(step, chunks_at(step, *(turn + n / CHUNKS for n in range(CHUNKS))))
            writer.samples([a_sample(writer.id, t=float(turn))])
    for table in writer.folder.glob("*.parquet"):
        table.unlink()
    with (writer.folder / EVENTS).open("a") as events:
        events.write("no event\n")
    return Run(writer.folder)


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """Threads take turns often, so that one that is not safe shows it."""
    was = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(was)


def at_once(*asked: Callable[[], Any]) -> list[Any]:
    """What each returns, all begun in the same moment in a thread of its own."""
    gate = threading.Barrier(len(asked))

    def one(ask: Callable[[], Any]) -> Any:
        gate.wait()
        return ask()

    with ThreadPoolExecutor(len(asked)) as pool:
        return list(pool.map(one, asked))


def test_tables_of_one_opened_run_are_whole_for_all_who_ask_at_once(run: Run):
    opened = Opened(Run(run.folder))
    agent = {"agent": ["a0"]}
    found = at_once(
        lambda: opened.steps,
        lambda: opened.chunks,
        lambda: opened.samples,
        lambda: rows_where(opened.run, "chunks", **agent),
        lambda: opened.run.steps(),
    )
    assert [len(rows) for rows in found] == [STEPS, STEPS * CHUNKS, STEPS, STEPS * CHUNKS, STEPS]
    assert list(opened.steps["turn"]) == list(range(STEPS))


def test_what_is_damaged_is_told_once_by_each_who_asks(run: Run):
    fresh = Run(run.folder)
    told = at_once(fresh.problems, fresh.problems, lambda: fresh.info.state)
    assert told[0] == told[1] == fresh.problems()
    assert [EVENTS in problem for problem in told[0]] == [True, False, False, False]
