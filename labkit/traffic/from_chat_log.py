"""A recording from what another agent framework logged: JSON lines, one chat-completions request and response a line.

    recording = from_chat_log(Path("chat-log.jsonl"))
    save(recording, Path("mine.jsonl"))          # from then on: labkit replay mine.jsonl

A recording only appends, so each request must begin with the one before and its reply. Where it does not, a prefix
cache finds nothing either, and the error says at which message. The format of a line: `chat_log_lines`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from labkit.core.chat import Message
from labkit.core.errors import BadInput
from labkit.core.records import Kind
from labkit.traffic.chat_log_growth import appended, as_sent, gap_s, same_tools
from labkit.traffic.chat_log_lines import Exchange, read
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader

_AS_THEY_ARE = frozenset({"tool_choice", "temperature", "seed"})
_TO_EXTRA = frozenset(
    {
        "top_p", "top_k", "min_p", "stop", "stop_token_ids", "min_tokens", "frequency_penalty", "presence_penalty",
        "repetition_penalty", "response_format", "structured_outputs", "chat_template_kwargs", "reasoning_effort",
    }
)  # fmt: skip
"""Fields that shape what an engine writes, and that vLLM takes under the same name."""
_ELSEWHERE = frozenset({"model", "messages", "tools", "max_tokens", "max_completion_tokens", "extra_body"})
_NO_MATTER = frozenset({"stream", "stream_options", "n", "user"})


def from_chat_log(path: Path, *, name: str | None = None, session: str | None = None) -> Recording:
    """The run of one agent that a log holds, as a recording called `name` (default: the file's own).

    A step's kind is `act` where the reply calls a tool; a reply in words is the `plan` at the start, the `answer` at
    the end, and an `observe` between. A request without a temperature is replayed at 0, one without a limit at the
    logged length of its reply. `session`: which agent, in a log of several. Raises BadInput naming file, line, field.
    """
    exchanges = _of_session(path, read(path), session)
    pairs = list(pairwise(exchanges))
    for each in exchanges:
        same_tools(exchanges[0], each)
    appends = [exchanges[0].messages, *(appended(*pair) for pair in pairs)]
    replies = [*(as_sent(*pair) for pair in pairs), exchanges[-1].reply]
    gaps = [0.0, *(gap_s(*pair) for pair in pairs)]
    steps = [_step(n, len(exchanges), *each) for n, each in enumerate(zip(exchanges, appends, replies, strict=True), 1)]
    whole = [_around(*each) for each in zip(steps, gaps, [*appends[1:], []], strict=True)]
    return Recording(header=_header(path, name or path.stem, exchanges), steps=tuple(whole))


def _of_session(path: Path, exchanges: Sequence[Exchange], session: str | None) -> list[Exchange]:
    known = list(dict.fromkeys(each.session for each in exchanges))
    if session is None and len(known) == 1:
        return list(exchanges)
    if session is None or session not in known:
        names = ", ".join(str(each) for each in known if each is not None)
        hint = "A recording is the run of one agent: choose it with --session."
        raise BadInput(f"{path.name} session", session, names or "none: no line has a session", hint)
    return [each for each in exchanges if each.session == session]


def _step(turn: int, turns: int, each: Exchange, append: list[Message], reply: Message) -> RecordedStep:
    calls = reply.get("tool_calls") or []
    return RecordedStep(
        turn=turn,
        kind=_kind(turn, turns, called=bool(calls)),
        append=append,
        reply=reply,
        request=_options(each),
        finish_reason=each.finish_reason,
        usage=each.usage,
        tool_name=(calls[0].get("function") or {}).get("name") if calls else None,
    )


def _kind(turn: int, turns: int, *, called: bool) -> Kind:
    if called:
        return "act"
    if turn == turns:
        return "answer"
    return "plan" if turn == 1 else "observe"


def _around(step: RecordedStep, gap: float, following: Sequence[Message]) -> RecordedStep:
    """The step with the gap before it, and the size of what its tool returned."""
    results = [str(message.get("content") or "") for message in following if message.get("role") == "tool"]
    size = len(results[0].encode()) if step.tool_name and results else None
    return dataclasses.replace(step, gap_s=gap, tool_bytes=size)


def _options(each: Exchange) -> dict[str, Any]:
    """What `RecordedStep.request` keeps: the fields of ChatRequest, and what else the engine must be told."""
    body = _body(each)
    limit = body.get("max_tokens") or body.get("max_completion_tokens") or each.usage.completion_tokens
    options = {name: value for name, value in body.items() if name in _AS_THEY_ARE and value is not None}
    extra = {name: value for name, value in body.items() if name in _TO_EXTRA and value is not None}
    return {**options, **({"max_tokens": limit} if limit else {}), "extra": extra}


def _body(each: Exchange) -> dict[str, Any]:
    """The request with what the OpenAI client merges into it: `extra_body` is no field of the API."""
    return {**each.request, **(each.request.get("extra_body") or {})}


def _header(path: Path, name: str, exchanges: Sequence[Exchange]) -> RecordingHeader:
    model = next((each.model for each in exchanges if each.model), None)
    counted = any(each.usage.prompt_tokens is not None for each in exchanges)
    return RecordingHeader(
        name=name,
        task=name,
        decided_by=model or "unknown",
        model=model or "unknown",
        tools=list(exchanges[0].request.get("tools") or []),
        counted_by=model if counted else None,
        note=" ".join(_notes(path, exchanges)),
    )


def _notes(path: Path, exchanges: Sequence[Exchange]) -> Iterator[str]:
    yield f"Read from the chat log {path.name}; whether the goal was reached is not known."
    if any(each.t_send is None or each.t_end is None for each in exchanges):
        yield "Where a line has no times, the gap is 0."
    used = _AS_THEY_ARE | _TO_EXTRA | _ELSEWHERE | _NO_MATTER
    if left_out := sorted({name for each in exchanges for name in _body(each) if name not in used}):
        yield f"Left out of the requests: {', '.join(left_out)}."
