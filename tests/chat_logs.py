"""A chat log as an agent framework writes it: three calls of an assistant with one tool, line by line."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TOOLS = [{"type": "function", "function": {"name": "track", "parameters": {"type": "object", "properties": {}}}}]
CALL = {"id": "c1", "type": "function", "function": {"name": "track", "arguments": '{"number": "K-1"}'}}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "You answer customers."},
    {"role": "user", "content": "Where is K-1?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "Zürich"},
    {"role": "assistant", "content": "It is in Zürich."},
    {"role": "user", "content": "Thanks."},
    {"role": "assistant", "content": "Goodbye."},
]


def lines(**more: Any) -> list[dict[str, Any]]:
    """One line for each assistant message of TALK; `more` goes into every request."""
    answered = [n for n, message in enumerate(TALK) if message["role"] == "assistant"]
    return [
        copy.deepcopy(
            {
                "request": {"model": "some-model", "messages": TALK[:n], "tools": TOOLS, **more},
                "response": {"choices": [{"message": TALK[n], "finish_reason": "stop"}]},
            }
        )
        for n in answered
    ]


def written(folder: Path, log: Iterable[dict[str, Any]], name: str = "chat.jsonl") -> Path:
    """The log as a file."""
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in log))
    return path
