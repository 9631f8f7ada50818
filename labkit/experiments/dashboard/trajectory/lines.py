"""A chat message as a line of a conversation that can be shown: texts as they are, arguments made readable."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from labkit.core.chat import Message
from labkit.experiments.dashboard.trajectory.records import Call, Line


def tools_line(tools: Sequence[Mapping[str, Any]]) -> Line:
    """The tools that a request offers: they stand in its prompt like a message."""
    return Line(role="tools", turn=1, text=json.dumps(tools, indent=1, ensure_ascii=False))


def line_of(message: Message, turn: int) -> Line:
    calls = [call.get("function") or {} for call in message.get("tool_calls") or []]
    return Line(
        role=message.get("role", "user"),
        turn=turn,
        text=_text(message.get("content")),
        calls=tuple(Call(name=str(c.get("name")), arguments=_pretty(c.get("arguments"))) for c in calls),
        reasoning=_text(message.get("reasoning") or message.get("reasoning_content")),
    )


def _text(content: Any) -> str:
    """A message's content; the texts of one that comes in parts, other parts by their type."""
    if isinstance(content, list):
        parts = [part if isinstance(part, dict) else {"text": str(part)} for part in content]
        return "\n".join(str(part.get("text", f"[{part.get('type')}]")) for part in parts)
    return content if isinstance(content, str) else ""


def _pretty(arguments: Any) -> str:
    """Arguments as a reader wants them."""
    try:
        known = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return str(arguments)
    return json.dumps(known, indent=1, ensure_ascii=False)


def chars_of(line: Line) -> int:
    """What the line has of characters in a prompt, roughly: tools stand there without the indent of here."""
    if line.role == "tools":
        return len(json.dumps(json.loads(line.text)))
    return len(line.text) + len(line.reasoning) + sum(len(call.name) + len(call.arguments) for call in line.calls)
