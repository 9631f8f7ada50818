"""One line of a chat log: a chat-completions request as it was sent, and the response that came back.

    {"request": {"model": ..., "messages": [...], "tools": [...]}, "response": {"choices": [...], "usage": {...}},
     "t_send": 1764500000.0, "t_end": 1764500001.5, "session": "a"}

`request` and `response` are the bodies of the OpenAI API, streamed ones put together. Times are seconds of any clock,
or ISO 8601; they and `session` may be left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from labkit.core.chat import Message, Usage
from labkit.core.errors import BadInput
from labkit.engines.usage import usage_of

_SHAPE = 'an object such as {"request": {...}, "response": {...}}'
_REPLY_FIELDS = ("role", "content", "reasoning", "reasoning_content", "tool_calls")


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A line that was read. `where` names it in errors; times in seconds, None where the line has none."""

    where: str
    line: int
    request: Mapping[str, Any]
    messages: list[Message]
    reply: Message
    finish_reason: str | None
    usage: Usage
    model: str | None
    t_send: float | None
    t_end: float | None
    session: str | None


def read(path: Path) -> list[Exchange]:
    """Every line of a log that is not empty. Raises BadInput naming the file, the line and the field that is wrong."""
    if not path.is_file():
        raise BadInput("chat log", str(path), "a file that exists, of JSON lines", f"A line is {_SHAPE}")
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    found = [_exchange(path, n, line) for n, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise BadInput(path.name, "an empty file", "at least one line", f"A line is {_SHAPE}")
    return found


def _exchange(path: Path, number: int, line: str) -> Exchange:
    where = f"{path.name} line {number}"
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(where, line[:40], "one JSON object", str(error)) from error
    if not isinstance(row, dict):
        raise BadInput(where, line[:40], _SHAPE)
    request, response = _object(where, row, "request"), _object(where, row, "response")
    choice = _choice(where, response)
    return Exchange(
        where=where,
        line=number,
        request=request,
        messages=_messages(where, request),
        reply=_reply(where, choice),
        finish_reason=choice.get("finish_reason"),
        usage=usage_of(response.get("usage"), response.get("metrics")),
        model=request.get("model") or response.get("model"),
        t_send=_seconds(where, row, "t_send"),
        t_end=_seconds(where, row, "t_end"),
        session=None if row.get("session") is None else str(row["session"]),
    )


def _object(where: str, row: Mapping[str, Any], field: str) -> dict[str, Any]:
    value = row.get(field)
    if not isinstance(value, dict):
        raise BadInput(f"{where} {field}", _short(value), "an object: a body of the chat-completions API")
    return value


def _messages(where: str, request: Mapping[str, Any]) -> list[Message]:
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        raise BadInput(f"{where} request.messages", _short(messages), "a list of at least one message")
    for n, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadInput(f"{where} request.messages[{n}]", _short(message), "an object with a role")
    return messages


def _choice(where: str, response: Mapping[str, Any]) -> dict[str, Any]:
    choices = response.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        hint = "A request that failed, or that asked for n > 1, is no step of an agent: leave its line out."
        raise BadInput(f"{where} response.choices", _short(choices), "a list of exactly one choice", hint)
    return choices[0]


def _reply(where: str, choice: Mapping[str, Any]) -> Message:
    """The assistant's message without the fields that say nothing."""
    message = choice.get("message")
    if not isinstance(message, dict):
        hint = "Put the chunks of a streamed response together first."
        raise BadInput(f"{where} response.choices[0].message", _short(message), "the assistant's message", hint)
    kept = {name: message[name] for name in _REPLY_FIELDS if message.get(name) not in (None, [])}
    return {"role": "assistant", "content": None, **kept}


def _seconds(where: str, row: Mapping[str, Any], field: str) -> float | None:
    value = row.get(field)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except ValueError as error:
        raise BadInput(f"{where} {field}", _short(value), "seconds, or a time in ISO 8601") from error


def _short(value: Any) -> Any:
    """A value that is short enough to be shown in an error."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return value if len(text) <= 60 else f"{text[:60]}..."
