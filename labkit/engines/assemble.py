"""From stream events to one reply: the assistant message untouched, and when its pieces came.

The message must go back to the engine exactly as it was generated, or the next turn misses the prefix cache: argument
strings are joined, never parsed, and reasoning keeps the key under which the engine sent it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labkit.core.chat import Chunk, Message, Reply
from labkit.engines.dialect import Dialect
from labkit.engines.usage import usage_of

REASONING_KEYS = ("reasoning", "reasoning_content")


class Assembler:
    """Collects the events of one streamed response (choice 0)."""

    def __init__(self, dialect: Dialect = "vllm") -> None:
        self._dialect = dialect
        self._opened: float | None = None
        self._sglext: dict[str, Any] = {}
        self.finish_reason: str | None = None
        self.chunks: list[Chunk] = []
        self.parse_s = 0.0
        """Seconds that went into parsing so far, as whoever feeds the events says."""
        self._ids: list[int] = []
        self._all_ids = True
        self._texts: dict[str, list[str]] = {}
        self._calls: dict[int, dict[str, Any]] = {}
        self._usage: Mapping[str, Any] | None = None
        self._metrics: Mapping[str, Any] | None = None

    def add(self, event: Mapping[str, Any], t: float) -> Chunk | None:
        """Take in one event that arrived at `t`. The chunk that it makes, or None when it carries no generated text."""
        self._usage = event.get("usage") or self._usage
        self._metrics = event.get("metrics") or self._metrics
        self._sglext |= event.get("sglext") or {}
        choice = next((c for c in event.get("choices") or () if c.get("index", 0) == 0), None)
        if choice is None:
            return None
        self.finish_reason = choice.get("finish_reason") or self.finish_reason
        delta = choice.get("delta") or {}
        chunk = self._chunk(delta, choice.get("token_ids"), t)
        if chunk:
            self._held_before(chunk)
            self.chunks.append(chunk)
        elif self._dialect == "sglang" and delta.get("role") and not self.chunks:
            self._opened = t
        return chunk

    def _held_before(self, chunk: Chunk) -> None:
        """When a tool call's first token was there, whose text the parser kept back: SGLang tells no ids meanwhile."""
        if self._opened is not None and chunk.kind == "tool" and self._opened < chunk.t:
            self.chunks.append(Chunk(t=self._opened, kind="held", chars=0))
        self._opened = None

    def _chunk(self, delta: Mapping[str, Any], token_ids: Sequence[int] | None, t: float) -> Chunk | None:
        """A chunk counts where a token or a character of any kind does; its kind is the most visible one in it."""
        content = self._text("content", delta)
        # An engine may send the same reasoning under both names: count it once.
        reasoning = max(self._text(key, delta) for key in REASONING_KEYS)
        tool = sum(self._call(call) for call in delta.get("tool_calls") or ())
        chars = content + reasoning + tool
        if not chars and not token_ids:
            return None
        self._ids.extend(token_ids or ())
        self._all_ids = self._all_ids and token_ids is not None
        kind = "tool" if tool else "content" if content else "reasoning" if reasoning else "held"
        return Chunk(t=t, kind=kind, chars=chars, tokens=None if token_ids is None else len(token_ids))

    def _text(self, key: str, delta: Mapping[str, Any]) -> int:
        text = delta.get(key) or ""
        if text:
            self._texts.setdefault(key, []).append(text)
        return len(text)

    def _call(self, piece: Mapping[str, Any]) -> int:
        new = {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}
        call = self._calls.setdefault(piece.get("index", 0), new)
        call["id"] = piece.get("id") or call["id"]
        call["type"] = piece.get("type") or call["type"]
        function = piece.get("function") or {}
        name, arguments = function.get("name") or "", function.get("arguments") or ""
        call["function"]["name"] += name
        call["function"]["arguments"] += arguments
        return len(name) + len(arguments)

    def message(self) -> Message:
        """The assistant message so far. `content` is None only beside tool calls, as vLLM's whole replies have it."""
        texts = {key: "".join(parts) for key, parts in self._texts.items()}
        content = texts.pop("content", None if self._calls else "")
        message: Message = {"role": "assistant", "content": content, **texts}
        if self._calls:
            message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        return message

    def reply(self, t_send: float, t_end: float) -> Reply:
        """The reply so far; times are clock seconds."""
        visible = next((chunk.t for chunk in self.chunks if chunk.kind in ("content", "tool")), None)
        return Reply(
            message=self.message(),
            finish_reason=self.finish_reason,
            usage=usage_of(self._usage, self._metrics, self._sglext),
            chunks=tuple(self.chunks),
            t_send=t_send,
            t_first_token=self.chunks[0].t if self.chunks else None,
            t_first_visible=visible,
            t_last=self.chunks[-1].t if self.chunks else None,
            t_end=t_end,
            parse_s=self.parse_s,
            token_ids=self._token_ids(),
        )

    def _token_ids(self) -> tuple[int, ...] | None:
        """Of all events; or all at once, as SGLang tells them at the end (a list per choice)."""
        at_once = self._sglext.get("output_ids")
        if at_once:
            return tuple(at_once[0])
        return tuple(self._ids) if self._ids and self._all_ids else None
