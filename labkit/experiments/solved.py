"""Which task runs of a run reached their goal, by the hidden check, as its events tell.

A replay sends recorded requests and solves nothing anew, so nobody checked: that is None, not "none was solved".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from labkit.experiments.agent_asked import NO_ARM
from labkit.store.runs import Run

_COLUMNS = ["arm", "task", "agent", "repeat", "solved"]


def solved_tasks(run: Run) -> pd.DataFrame | None:
    """Columns arm, task, agent, repeat, solved; None when no task run was checked."""
    rows = list(_rows(run))
    return pd.DataFrame(rows, columns=_COLUMNS) if rows else None


def _rows(run: Run) -> Iterator[tuple[Any, ...]]:
    asked = run.info.asked
    if asked.get("model") == "scripted":
        asked = {**asked, "arm": NO_ARM}  # as its rows say: no arm served it
    for event in run.events():
        if event["type"] == "outcome" and event.get("reached") is not None and not event.get("toggled"):
            where = {"attempt": 0, "agent": "0", **asked, **event}
            if {"arm", "task"} <= where.keys():
                repeat = int(where.get("repeat", where["attempt"]))
                yield where["arm"], where["task"], where["agent"], repeat, bool(event["reached"])
