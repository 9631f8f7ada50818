"""Which task runs of a run reached their goal, by the hidden check, as its events tell.

A replay sends recorded requests and solves nothing anew, so nobody checked: that is None, not "none was solved".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from labkit.core.records import RunInfo
from labkit.experiments.agent_asked import NO_ARM

_COLUMNS = ["arm", "task", "agent", "repeat", "solved"]


def solved_tasks(info: RunInfo, events: Iterable[Mapping[str, Any]]) -> pd.DataFrame | None:
    """Columns arm, task, agent, repeat, solved; None when no task run was checked."""
    rows = list(_rows(info.asked, events))
    return pd.DataFrame(rows, columns=_COLUMNS) if rows else None


def _rows(asked: Mapping[str, Any], events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    if asked.get("model") == "scripted":
        asked = {**asked, "arm": NO_ARM}  # as its rows say: no arm served it
    for event in events:
        if event["type"] == "outcome" and event.get("reached") is not None and not event.get("toggled"):
            where = {"attempt": 0, "agent": "0", **asked, **event}
            if {"arm", "task"} <= where.keys():
                repeat = int(where.get("repeat", where["attempt"]))
                yield where["arm"], where["task"], where["agent"], repeat, bool(event["reached"])
