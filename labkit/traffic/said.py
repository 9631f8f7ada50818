"""What a message says, without what differs by chance (call ids, key order of the record): to compare arms by text."""

from __future__ import annotations

import hashlib
import json

from labkit.core.chat import Message


def said(message: Message) -> str:
    """Reasoning, content and tool calls of an assistant message as one string."""
    reasoning = message.get("reasoning") or message.get("reasoning_content") or ""
    calls = [call.get("function") or {} for call in message.get("tool_calls") or []]
    parts = [reasoning, message.get("content") or "", *(f"{c.get('name')}({c.get('arguments')})" for c in calls)]
    return json.dumps(parts, ensure_ascii=False)


def said_sha256(message: Message) -> str:
    """SHA-256 of `said`, in hex."""
    return hashlib.sha256(said(message).encode()).hexdigest()
