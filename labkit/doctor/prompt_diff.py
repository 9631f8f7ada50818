"""Where one request stops extending the one before, and what the difference looks like.

Compared is what is sent, as JSON text in the order in which it was written: the tools, which stand at the front of the
prompt, then message by message. What is equal as data and not as text still breaks a prefix cache.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from labkit.core.chat import ChatRequest

_AROUND = 30
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?|\b\d\d?:\d\d(?::\d\d)?\b")
_UUID = r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
_ID = re.compile(rf"{_UUID}|\b[0-9a-f]{{16,64}}\b|\b\d{{10,13}}\b")
_CHANGING = (("a time or date that changes", _TIME), ("an id that changes", _ID))
"""What is put into prompts by habit and differs in each: two texts that are equal without it differ by it alone."""


@dataclass(frozen=True, kw_only=True)
class Break:
    """The first difference. `where`: `tools`, or `message 3 (tool)`, counted from 1; `kept`: messages before it.

    `was`, `now`: a few characters around it; `cause`: what it looks like, empty when like nothing known.
    """

    where: str
    kept: int
    was: str
    now: str
    cause: str


def first_break(before: ChatRequest, after: ChatRequest) -> Break | None:
    """Where `after` stops extending `before`; None when all of `before` stands at its beginning, byte for byte."""
    if _text(before.tools) != _text(after.tools):
        return _break("tools", 0, before.tools, after.tools)
    for n, message in enumerate(before.messages):
        where = f"message {n + 1} ({message.get('role', '?')})"
        if n >= len(after.messages):
            gone = f"{len(before.messages) - n} of {len(before.messages)} messages are gone"
            return Break(where=where, kept=n, was=_text(message)[:_AROUND], now="", cause=gone)
        if _text(message) != _text(after.messages[n]):
            return _break(where, n, message, after.messages[n])
    return None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _break(where: str, kept: int, one: Any, other: Any) -> Break:
    was, now = _text(one), _text(other)
    at = next((n for n, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    cut = slice(max(0, at - _AROUND // 2), at + _AROUND)
    return Break(where=where, kept=kept, was=was[cut], now=now[cut], cause=cause_of(one, other))


def cause_of(one: Any, other: Any) -> str:
    """What two different values look like; empty when like nothing known."""
    if _sorted(one) == _sorted(other):
        return "the same data in another order: it was written anew from a dictionary"
    if _parsed(one) == _parsed(other):
        return "the same arguments, parsed and written again"
    was, now = _text(one), _text(other)
    for cause, pattern in _CHANGING:
        if pattern.sub("", was) == pattern.sub("", now):
            return cause
    if isinstance(one, list) and isinstance(other, list) and sorted(map(_text, one)) == sorted(map(_text, other)):
        return "the same tools in another order"
    if re.sub(r"\s+|\\[nrt]", "", was) == re.sub(r"\s+|\\[nrt]", "", now):
        return "white space alone"
    return ""


def _sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _parsed(value: Any) -> Any:
    """`value` with every string that is JSON parsed: tool-call arguments above all."""
    if isinstance(value, dict):
        return {key: _parsed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_parsed(item) for item in value]
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return _parsed(json.loads(value))
        except ValueError:
            return value
    return value
