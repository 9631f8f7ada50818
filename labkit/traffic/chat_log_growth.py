"""Whether each request of a chat log extends the one before, as the requests of one agent do, and by what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from labkit.core.chat import Message
from labkit.core.errors import BadInput
from labkit.traffic.chat_log_lines import Exchange

_LOST = "A prefix cache loses everything from there on. Find out why with: labkit doctor --recording LOG"


def appended(before: Exchange, now: Exchange) -> list[Message]:
    """The messages of `now` after those of `before` and its reply. Raises BadInput where it does not extend them."""
    at, field = len(before.messages), f"{now.where} request.messages"
    for n, message in enumerate(before.messages):
        if n >= len(now.messages) or _plain(message) != _plain(now.messages[n]):
            shown = now.messages[n].get("content") if n < len(now.messages) else None
            raise BadInput(f"{field}[{n}]", _start(shown), f"the same message as in line {before.line}", _LOST)
    if at >= len(now.messages) or _meaning(now.messages[at]) != _meaning(before.reply):
        shown = now.messages[at] if at < len(now.messages) else None
        raise BadInput(f"{field}[{at}]", _start(shown), f"the reply of line {before.line}, sent back", _LOST)
    if len(now.messages) == at + 1:
        raise BadInput(field, f"{at + 1} messages", f"at least one more after the reply of line {before.line}")
    return now.messages[at + 1 :]


def as_sent(before: Exchange, now: Exchange) -> Message:
    """The reply of `before` as it stands in the prompt of `now`: the framework may have written it anew."""
    return now.messages[len(before.messages)]


def same_tools(first: Exchange, each: Exchange) -> None:
    """Raises BadInput where the tools are not those of `first`."""
    tools = each.request.get("tools") or []
    if tools != (first.request.get("tools") or []):
        names = [(tool.get("function") or {}).get("name") for tool in tools]
        allowed = f"the tools of line {first.line}: they stand at the front of every prompt"
        raise BadInput(f"{each.where} request.tools", names, allowed, _LOST)


def gap_s(before: Exchange, now: Exchange) -> float:
    """Seconds from the reply of `before` to the send of `now`; 0 where the log has no times. Raises BadInput."""
    if before.t_end is None or now.t_send is None:
        return 0.0
    if now.t_send < before.t_end:
        allowed = f"not before t_end of line {before.line}, {before.t_end}"
        hint = "Requests that overlap are those of several agents: give each line a session."
        raise BadInput(f"{now.where} t_send", now.t_send, allowed, hint)
    return now.t_send - before.t_end


def _plain(message: Message) -> Message:
    """Without the fields that say nothing, such as `refusal: null`."""
    return {name: value for name, value in message.items() if value not in (None, [])}


def _meaning(message: Message) -> tuple[Any, ...]:
    """Role, words and calls, however they are spaced; reasoning is rightly left out of a history."""
    content, calls = message.get("content") or "", message.get("tool_calls") or []
    said = content.strip() if isinstance(content, str) else content
    return message.get("role"), said, [_call(call.get("function") or {}) for call in calls]


def _call(function: Mapping[str, Any]) -> tuple[Any, Any]:
    arguments = function.get("arguments")
    try:
        return function.get("name"), json.loads(arguments or "{}")
    except (TypeError, ValueError):
        return function.get("name"), arguments


def _start(value: Any) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return None if value is None else f"{text[:60]}..." if len(text) > 60 else text
