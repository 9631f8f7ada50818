"""What is sent to an engine and what comes back: the chat-completions API as records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from labkit.core.records import Record

Message = dict[str, Any]
"""One OpenAI chat message: role, content, tool_calls, tool_call_id..."""


@dataclass(frozen=True, kw_only=True)
class ChatRequest(Record):
    """One chat-completions request. `extra`: engine-specific fields, merged into the body as they are.

    `session`: whose turn it is; a router in front of several replicas sends the turns of one session to the same one.
    """

    messages: list[Message]
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    max_tokens: int = 128
    temperature: float = 0.0
    seed: int | None = None
    cache_salt: str | None = None
    ignore_eos: bool = False
    session: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Usage(Record):
    """Token counts and timings of one request as the engine reports them; null where it does not."""

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    drafts: int | None = None
    drafted_tokens: int | None = None
    accepted_tokens: int | None = None
    queue_s: float | None = None
    prefill_s: float | None = None
    decode_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Chunk(Record):
    """One event that carried generated tokens. `t`: clock seconds; `kind`: content, reasoning, tool or held.

    `held`: tokens whose text the engine's parser keeps back for now, as it does until a tool's name is complete.
    `tokens`: how many, from the event's token ids; null when the engine sends none.
    """

    t: float
    kind: str
    chars: int
    tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class Reply(Record):
    """A finished response. Times are readings of the client's clock, not offsets.

    `parse_s`: what the client spent on parsing its events; null where nothing was parsed. `token_ids`: what was
    generated, as the engine said it; null where it did not say all of it.
    """

    message: Message
    finish_reason: str | None
    usage: Usage
    chunks: tuple[Chunk, ...]
    t_send: float
    t_first_token: float | None
    t_first_visible: float | None
    t_last: float | None
    t_end: float
    parse_s: float | None = None
    token_ids: tuple[int, ...] | None = None


class Model(Protocol):
    """Whatever answers a chat request: an engine, or a script."""

    async def chat(self, request: ChatRequest) -> Reply:
        """Answer one request. Raises RequestFailed when no whole answer came."""
        ...
