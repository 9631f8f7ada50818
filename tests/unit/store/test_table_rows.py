"""A few rows of a table are the same few, whether the run goes on or has ended."""

from __future__ import annotations

from builders import a_step, chunks_at

from labkit.store.runs import RunStore
from labkit.store.table_rows import rows_where


def test_rows_of_one_agent_from_a_run_that_goes_on_and_from_one_that_has_ended(store: RunStore):
    run = store.create("quick", {}, {})
    for agent in ("0", "1"):
        for arm in ("base", "prefix"):
            step = a_step(run.id, agent=agent, arm=arm)
            run.step(step, chunks_at(step, 1.1, 1.2))
    live = rows_where(store.open(run.id), "chunks", agent=["1"], arm=["prefix"])
    run.finish("done")
    ended = rows_where(store.open(run.id), "chunks", agent=["1"], arm=["prefix"])
    assert len(live) == 2
    assert set(live["agent"] + live["arm"]) == {"1prefix"}
    assert live.equals(ended)
    assert len(rows_where(store.open(run.id), "steps", arm=["base", "prefix"])) == 4
    assert rows_where(store.open(run.id), "chunks", arm=["spec"]).empty
