"""Which arm a live run is to serve, so that the toggles of every tab mean it: also after a reload, and after a refusal.

It is what was wished for last, else the arm that laps were planned for last: the lap under base comes first by itself.
What was wished for and cannot be had is wanted no more; then it is whatever serves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labkit.core.arms import ARMS, Arm, arm_named
from labkit.core.records import RunInfo

_LOST = ("refused", "engine_died")
_LABELS = frozenset(arm.label for arm in ARMS)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """`decided`: how often somebody wished or an arm was lost, so that a refused wish for a new arm is seen, too."""

    job: str
    arm: str
    decided: int


def wanted(job: str, planned: Sequence[str], events: Sequence[Mapping[str, Any]], asked: str | None) -> Wanted:
    """`planned`: labels of the arms that laps were planned for; `asked`: the newest wish, which the run may not have
    read yet."""
    wish, served, told, decided = planned[-1] if planned else "", "", "", 0
    for event in events:
        kind = event["type"]
        if kind == "steer":
            wish = told = str(event["arm"])
        elif kind == "switch":
            served = str(event["arm"])
        elif kind in _LOST:
            wish = "" if wish == event["arm"] else wish
            served = "" if served == event["arm"] else served
        decided += kind == "steer" or kind in _LOST
    if asked and asked != told:
        wish = asked
    return Wanted(job=job, arm=wish or served or (planned[-1] if planned else ""), decided=decided)


def arm_of(info: RunInfo, events: Sequence[Mapping[str, Any]]) -> Arm | None:
    """The arm that a run of one recording or one task came to last; None for a run of another kind."""
    planned = [str(label) for label in info.asked.get("arms", ())]
    if not (info.asked.get("recording") or info.asked.get("task")):
        return None
    label = wanted("", planned, events, None).arm
    return arm_named(label) if label in _LABELS else None
