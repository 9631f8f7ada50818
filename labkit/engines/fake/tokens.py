"""The fake's chat template and tokeniser: one token per role, one per four characters of each piece, one per end.

Pieces start on a token border, so that a prompt followed by its generated tokens is a prefix of the next turn's prompt:
what a real engine has when the template does not drift.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from zlib import crc32

from labkit.core.chat import Message

WIDTH = 4


def split(text: str) -> list[str]:
    """The tokens of one piece of text."""
    return [text[at : at + WIDTH] for at in range(0, len(text), WIDTH)]


def ids(tokens: Iterable[str]) -> list[int]:
    """A number for each token: the same text has the same number in every fake."""
    return [crc32(token.encode()) for token in tokens]


def prompt_tokens(body: Mapping[str, Any], forgets_reasoning: bool = False) -> list[str]:
    """The tokens of a request's prompt, up to where the assistant's answer begins.

    `forgets_reasoning`: as Qwen3's template, which leaves out the reasoning of replies before the user's last message.
    """
    tools: Sequence[Any] = body.get("tools") or ()
    tokens = split(json.dumps(tools)) if tools else []
    messages: Sequence[Message] = body["messages"]
    last = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=0)
    for at, message in enumerate(messages):
        tokens += _message_tokens(_without_reasoning(message) if forgets_reasoning and at < last else message)
    return [*tokens, "<|assistant|>"]


def _without_reasoning(message: Message) -> Message:
    return {key: value for key, value in message.items() if key not in ("reasoning", "reasoning_content")}


def _message_tokens(message: Message) -> Iterator[str]:
    yield f"<|{message['role']}|>"
    for piece in _pieces(message):
        yield from split(piece)
    yield "<|end|>"


def _pieces(message: Message) -> Iterator[str]:
    """In the order in which the fake generates them."""
    yield message.get("reasoning") or message.get("reasoning_content") or ""
    content = message.get("content") or ""
    yield content if isinstance(content, str) else json.dumps(content)
    for call in message.get("tool_calls") or ():
        yield call["function"]["name"]
        yield call["function"]["arguments"]
