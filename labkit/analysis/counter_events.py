"""The events of engines' counters that count: not those of a repeat whose node was lost while it measured it.

That repeat is measured again, whole, on another node. The steps of the first try are marked as warm-up; what its
engine's counters grew by stands in the events as it was noted, and with it each sum would hold some requests twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_OF_COUNTERS = ("counters", "first_counters")


def counters(events: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The `counters` events of a run that count, in order. `events`: all of the run, in any order."""
    return [event for event in without_void(events) if event["type"] == "counters"]


def without_void(events: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """All events but the counters whose node and repeat a `void` event names."""
    told = list(events)
    void = {(each["node"], each.get("repeat")) for each in told if each["type"] == "void" and each.get("node")}
    return [
        each for each in told if each["type"] not in _OF_COUNTERS or (each.get("node"), each.get("repeat")) not in void
    ]
