"""A strict reader of the Trace Event Format: what a viewer would draw, or why it could not."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

_FIELDS = {
    "X": {"name", "ph", "cat", "pid", "tid", "ts", "dur", "args"},
    "M": {"name", "ph", "pid", "tid", "args"},
    "C": {"name", "ph", "pid", "tid", "ts", "args"},
}
_METADATA = {"process_name": str, "thread_name": str, "process_sort_index": int}


class Slice(NamedTuple):
    """`depth`: how many slices of its track hold it."""

    group: str
    track: str
    name: str
    start: int
    end: int
    depth: int
    args: dict[str, Any]


class Trace(NamedTuple):
    slices: list[Slice]
    counters: dict[tuple[str, str], list[tuple[int, float]]]
    about: dict[str, Any]


def read_trace(path: Path) -> Trace:
    """Raises AssertionError for an event that breaks the format, or slices of a track that overlap without nesting."""
    data = json.loads(path.read_text(), parse_constant=_no_constant)
    assert set(data) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert data["displayTimeUnit"] in ("ms", "ns")
    events = data["traceEvents"]
    for event in events:
        _check(event)
    groups = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert len({tid for _, tid in tracks}) == len(tracks), "a tid means one track, whatever its group"
    return Trace(_nested(events, groups, tracks), _counters(events, groups), data["otherData"])


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def _check(event: dict[str, Any]) -> None:
    assert event["ph"] in _FIELDS, event
    assert set(event) == _FIELDS[event["ph"]], event
    assert isinstance(event["name"], str)
    assert event["name"]
    assert all(isinstance(event[name], int) for name in ("pid", "tid", "ts", "dur") if name in event), event
    assert event.get("ts", 0) >= 0, event
    assert event.get("dur", 0) >= 0, event
    if event["ph"] == "M":
        (value,) = event["args"].values()
        assert isinstance(value, _METADATA[event["name"]]), event
    if event["ph"] == "C":
        assert event["args"]
        assert all(isinstance(v, int | float) and math.isfinite(v) for v in event["args"].values()), event


def _nested(events: list[dict[str, Any]], groups: dict[int, str], tracks: dict[tuple[int, int], str]) -> list[Slice]:
    open_ends: dict[tuple[int, int], list[int]] = defaultdict(list)
    found = []
    slices = [e for e in events if e["ph"] == "X"]
    for e in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        key, start, end = (e["pid"], e["tid"]), e["ts"], e["ts"] + e["dur"]
        stack = open_ends[key]
        while stack and stack[-1] <= start and not stack[-1] == start == end:
            stack.pop()
        assert not stack or end <= stack[-1], f"{e['name']} at {start} overlaps what it is not in"
        found.append(Slice(groups[e["pid"]], tracks[key], e["name"], start, end, len(stack), e["args"]))
        stack.append(end)
    return found


def _counters(events: list[dict[str, Any]], groups: dict[int, str]) -> dict[tuple[str, str], list[tuple[int, float]]]:
    found: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for e in events:
        if e["ph"] == "C":
            found[groups[e["pid"]], e["name"]].append((e["ts"], e["args"]["value"]))
    return found
