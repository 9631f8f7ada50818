"""The spans of one trace. Their ids follow from the run and the step: the same run gives the same file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from labkit.core.records import RunInfo
from labkit.store.exports.otlp.attributes import agent_attributes, attributes, chat_attributes, tool_attributes
from labkit.store.exports.requests import Request, stable_id
from labkit.store.exports.tool_times import ToolTime, tool_time
from labkit.store.exports.wall import Wall

_INTERNAL, _CLIENT = 1, 3
_ERROR = 2


class Trace(NamedTuple):
    """What all spans of a trace share. `id`: 32 hex digits. `model`: None when the run does not know it."""

    id: str
    provider: str
    model: str | None
    wall: Wall

    def span_id(self, *words: object) -> str:
        """16 hex digits."""
        return stable_id(self.id, *words, digits=16)


def spans_of(trace: Trace, requests: Sequence[Request], info: RunInfo) -> list[dict[str, Any]]:
    """The agent's span, then a span per LLM call, each followed by its tool's where one ran."""
    tools = [tool_time(request, info) for request in requests]
    start = min(request.step.t_send for request in requests)
    end = max([*(request.t_over for request in requests), *(tool.end for tool in tools if tool)])
    first = requests[0].step
    told = agent_attributes(first, trace.provider, trace.model, trace.id)
    root = _span(trace, trace.span_id("agent"), f"invoke_agent agent {first.agent}", (start, end), told)
    spans = [root]
    for number, (request, tool) in enumerate(zip(requests, tools, strict=True)):
        chat = _chat(trace, number, request, root["spanId"])
        spans += [chat, _tool(trace, number, request, tool, chat)] if tool else [chat]
    return spans


def _chat(trace: Trace, number: int, request: Request, parent: str) -> dict[str, Any]:
    name = f"chat {trace.model}" if trace.model else "chat"
    told = chat_attributes(request, trace.provider, trace.model, trace.id)
    times = (request.step.t_send, request.t_over)
    span = _span(trace, trace.span_id("chat", number), name, times, told, kind=_CLIENT, parent=parent)
    return {**span, "status": {"code": _ERROR, "message": request.problem}} if request.problem else span


def _tool(trace: Trace, number: int, request: Request, tool: ToolTime, chat: Mapping[str, Any]) -> dict[str, Any]:
    name = f"execute_tool {request.step.tool_name or ''}".strip()
    told = tool_attributes(request.step, tool.slept)
    times = (tool.start, tool.end)
    span = _span(trace, trace.span_id("tool", number), name, times, told, parent=chat["parentSpanId"])
    return {**span, "links": [{"traceId": trace.id, "spanId": chat["spanId"]}]}


def _span(
    trace: Trace,
    span_id: str,
    name: str,
    times: tuple[float, float],
    told: Mapping[str, Any],
    kind: int = _INTERNAL,
    parent: str = "",
) -> dict[str, Any]:
    start, end = times
    return {
        "traceId": trace.id,
        "spanId": span_id,
        **({"parentSpanId": parent} if parent else {}),
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(trace.wall.ns(start)),
        "endTimeUnixNano": str(trace.wall.ns(end)),
        "attributes": attributes(told),
    }
