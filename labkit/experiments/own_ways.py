"""Whether the arms of a run sent the same requests: the one place that decides it, for every pair, ratio and verdict.

Live agents decide themselves what to send, and under load each agent takes what comes: steps of two arms may then have
one turn number in common, and are no pair all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from labkit.core.records import RunInfo

OwnWays = Literal["", "agents", "load"]
"""Who sends what no other arm sends; empty: nobody does, and arms can be paired."""


def own_ways(info: RunInfo, events: Iterable[Mapping[str, Any]] = ()) -> OwnWays:
    """`events`: of the run, as far as it is; a run at tasks says by its question alone that agents decide."""
    told = {event["type"] for event in events if event["type"] in ("window", "outcome")}
    if "window" in told:
        return "load"
    return "agents" if "outcome" in told or _at_tasks(info.asked) else ""


def same_requests(info: RunInfo, events: Iterable[Mapping[str, Any]] = ()) -> bool:
    """Whether steps of two arms that have the same key are the same request."""
    return not own_ways(info, events)


def _at_tasks(asked: Mapping[str, Any]) -> bool:
    tasks, replayed = (any(asked.get(name) for name in names) for names in (("task", "tasks"), _REPLAYED))
    return tasks and not replayed


_REPLAYED = ("recording", "recordings")
