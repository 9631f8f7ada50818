"""Which track a step is drawn on: a trace viewer needs slices of one track to follow or to hold each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from labkit.core.records import RunInfo
from labkit.store.exports.requests import Request
from labkit.store.exports.tool_times import tool_time


class Placed(NamedTuple):
    """A request on its track: `pid` is the arm's group, `tid` the track in it."""

    request: Request
    pid: int
    tid: int


class Lanes(NamedTuple):
    """`names`: the events that name groups and tracks. `next_pid`: the first number that is free."""

    placed: list[Placed]
    names: list[dict[str, Any]]
    next_pid: int


def us(t: float) -> int:
    """Whole microseconds since the run's start: rounded alike everywhere, so that what touches still touches."""
    return round(t * 1e6)


def lanes_of(requests: Sequence[Request], info: RunInfo) -> Lanes:
    """Every request with its track, in the order of sending."""
    pids = {arm: number for number, arm in enumerate(dict.fromkeys(r.step.arm for r in requests), 1)}
    free: dict[tuple[int, str], list[tuple[int, int]]] = {}
    placed, names, tids = [], [_name("process_name", pid, 0, f"arm {arm}") for arm, pid in pids.items()], 0
    names += [_order(pid) for pid in pids.values()]
    for request in sorted(requests, key=lambda r: r.step.t_send):
        pid, track = pids[request.step.arm], _track(request)
        lanes = free.setdefault((pid, track), [])
        start, end = us(request.step.t_send), _end(request, info)
        number = next((n for n, (_, busy) in enumerate(lanes) if busy <= start), len(lanes))
        if number == len(lanes):
            tids += 1
            lanes.append((tids, end))
            names.append(_name("thread_name", pid, tids, f"{track} ({number + 1})" if number else track))
        tid = lanes[number][0]
        lanes[number] = (tid, end)
        placed.append(Placed(request, pid, tid))
    return Lanes(placed, names, len(pids) + 1)


def _track(request: Request) -> str:
    return ", ".join(filter(None, (f"agent {request.step.agent}", request.step.condition)))


def _end(request: Request, info: RunInfo) -> int:
    tool = tool_time(request, info)
    return us(tool.end if tool else request.t_over)


def _name(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}}


def _order(pid: int) -> dict[str, Any]:
    return {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": pid}}
