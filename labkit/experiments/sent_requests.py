"""The requests that the doctor compares: those of a recording, or bodies that any other agent has sent."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from labkit.core.chat import ChatRequest
from labkit.core.errors import BadInput
from labkit.traffic.recording import named

_FIELDS = {field.name for field in dataclasses.fields(ChatRequest)}


def requests_of(name: str) -> list[ChatRequest]:
    """The requests of a recording by name or path, or of a .jsonl file with one chat-completions body a line.

    The body may stand under `request`, as in a chat log. Raises UnknownName, BadInput naming the line.
    """
    path = Path(name).expanduser()
    if path.suffix == ".jsonl" and path.is_file() and not _is_recording(path):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        return [_body(path, n, line) for n, line in enumerate(lines, 1) if line.strip()]
    recording = named(name)
    return [recording.request(index) for index in range(len(recording.steps))]


def _is_recording(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as lines:
        return '"type": "recording"' in next(lines, "")


def _body(path: Path, number: int, line: str) -> ChatRequest:
    where = f"{path.name} line {number}"
    try:
        row: Any = json.loads(line)
    except ValueError as error:
        raise BadInput(where, line[:40], "one JSON object", str(error)) from error
    body = {**row, **row["request"]} if isinstance(row, dict) and isinstance(row.get("request"), dict) else row
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise BadInput(where, line[:40], "a chat-completions body with `messages`", "A recording will do, too.")
    return ChatRequest.from_dict({key: value for key, value in body.items() if key in _FIELDS})
