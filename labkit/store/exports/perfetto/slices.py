"""A step as slices: itself, the engine's phases within it, and its tool after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labkit.core.records import RunInfo, StepRecord
from labkit.store.exports.files import known
from labkit.store.exports.perfetto.lanes import Placed, us
from labkit.store.exports.requests import Request
from labkit.store.exports.tool_times import tool_time

_BEFORE = ("queue", "prefill", "transfer")
_TOLD = (
    "task", "recording", "condition", "cache", "repeat", "turn", "warmup", "mode", "prompt_tokens", "cached_tokens",
    "ceiling_tokens", "transferred_tokens", "completion_tokens", "reasoning_tokens", "drafts", "drafted_tokens",
    "accepted_tokens", "finish_reason", "tool_name", "tool_s", "tool_bytes", "send_lag_s", "engine",
)  # fmt: skip


def slices_of(placed: Placed, info: RunInfo) -> Iterator[dict[str, Any]]:
    """Parents before what they hold, as the format asks of slices with equal starts."""
    request, step = placed.request, placed.request.step
    yield _slice(placed, _title(request), us(step.t_send), us(request.t_over), "step", _args(request))
    for name, start, end, seconds in _phases(step):
        yield _slice(placed, name, start, end, "engine", {"reported_s": seconds})
    if tool := tool_time(request, info):
        args = known({"result_bytes": step.tool_bytes, "slept_not_run": tool.slept or None})
        yield _slice(placed, f"tool {step.tool_name or ''}".strip(), us(tool.start), us(tool.end), "tool", args)


def _title(request: Request) -> str:
    step = request.step
    flags = ("warm-up" if step.warmup else "", "failed" if request.problem else "")
    return " ".join(filter(None, (str(step.turn), step.kind, *flags)))


def _args(request: Request) -> dict[str, Any]:
    step = request.step
    ttft = None if step.t_first_token is None else step.t_first_token - step.t_send
    e2e = None if step.t_end is None else step.t_end - step.t_send
    told = {name: getattr(step, name) for name in _TOLD if getattr(step, name) != ""}
    return known({**told, "ttft_s": ttft, "e2e_s": e2e, "error": request.problem})


def _phases(step: StepRecord) -> Iterator[tuple[str, int, int, float]]:
    """Name, start and end in microseconds within the step, and the seconds that the engine reported.

    Queue, prefill and transfer end together at the first token, decode starts there; each is cut at the step's edges.
    """
    if step.t_first_token is None:
        return
    first = us(step.t_first_token)
    before = [(name, getattr(step, f"{name}_s")) for name in _BEFORE if getattr(step, f"{name}_s") is not None]
    at = max(us(step.t_send), first - sum(us(seconds) for _, seconds in before))
    for name, seconds in before:
        end = min(at + us(seconds), first)
        yield name, at, end, seconds
        at = end
    if step.decode_s is not None:
        over = us(step.t_end if step.t_end is not None else step.t_last or step.t_first_token)
        yield "decode", first, max(first, min(first + us(step.decode_s), over)), step.decode_s


def _slice(placed: Placed, name: str, start: int, end: int, category: str, args: dict[str, Any]) -> dict[str, Any]:
    place = {"pid": placed.pid, "tid": placed.tid, "ts": start, "dur": end - start}
    return {"ph": "X", "name": name, "cat": category, **place, "args": args}
