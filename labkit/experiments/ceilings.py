"""What an infinite prefix cache could have served of a step's prompt, and what else stood in the way of a hit.

It belongs to the requests, so every arm gets it, those without prefix caching too. What was seen before a step is every
earlier prompt under the same salt and what the engine generated to it, whose blocks the next prompt finds as far as it
carries the same words: all the way in live history, and in recorded history as far as the engine said what the
recording says. With speculation it may be a block less: what the last pass of a reply accepted is stored in none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from labkit.analysis.ceiling import common
from labkit.core.chat import ChatRequest, Message, Reply
from labkit.core.errors import RequestFailed
from labkit.core.records import Record
from labkit.experiments.design import Pass
from labkit.experiments.seen import UNKNOWN, Seen, ServedBy
from labkit.traffic.said import said


class Tokenizer(Protocol):
    """Whatever turns a request into the prompt's token ids; EngineClient does."""

    async def tokenize(self, request: ChatRequest) -> list[int]: ...


class Exchange(Protocol):
    """A request and what came back; None when nothing whole did. A replayed step is one."""

    @property
    def request(self) -> ChatRequest: ...

    @property
    def reply(self) -> Reply | None: ...


@dataclass(frozen=True, kw_only=True)
class Shareable(Record):
    """What could have been reused of a prompt, in tokens; the fields are those of StepRecord. None: not measured."""

    retokenized_tokens: int | None = None
    ceiling_tokens: int | None = None
    reachable_tokens: int | None = None
    shared_tokens: int | None = None
    append_tokens: int | None = None


@dataclass
class Salted:
    """What was seen in each pass of a block: a warm pass has the salt, and finds the blocks, of the cold one before."""

    _last: dict[tuple[str, str, int], Seen] = field(default_factory=dict)

    def of(self, each: Pass, block_size: int | None, agent: int = 0) -> Seen | None:
        """For one agent of this pass; None when the block size is not known."""
        key = (each.recording.header.name, each.condition, agent)
        if block_size and (each.cache == "cold" or key not in self._last):
            self._last[key] = Seen(block_size)
        return self._last.get(key)


@dataclass(frozen=True)
class _Before:
    """The agent's step before: its request, what was said to it, and both as tokens."""

    request: ChatRequest
    message: Message | None
    tokens: Sequence[int]


class Ceiling:
    """One agent's steps, one by one. Nothing is measured without `seen` or a tokenizer."""

    def __init__(self, tokenizer: Tokenizer, seen: Seen | None) -> None:
        self._tokenizer, self._seen = tokenizer, seen
        self._before: _Before | None = None

    async def of(self, done: Exchange, by: ServedBy = UNKNOWN) -> Shareable:
        """How this step's prompt relates to what came before. Asks the tokenizer: call it when nothing is timed."""
        if self._seen is None:
            return Shareable()
        try:
            prompt = await self._tokenizer.tokenize(done.request)
            generated = await self._generated(done, prompt)
            appended = await self._appended(done.request)
        except RequestFailed:
            self._seen = None
            return Shareable()
        found = Shareable(
            retokenized_tokens=len(prompt),
            ceiling_tokens=self._seen.ceiling(prompt),
            reachable_tokens=self._seen.reachable(prompt, by.prompt),
            shared_tokens=self._seen.shared(prompt),
            append_tokens=None if appended is None else min(len(prompt), appended),
        )
        self._seen.add(prompt, generated, by, _last_pass(done.reply))
        said_now = done.reply.message if done.reply else None
        self._before = _Before(done.request, said_now, [*prompt, *generated])
        return found

    async def _generated(self, done: Exchange, prompt: list[int]) -> Sequence[int]:
        """The reply's tokens as the engine said them; else as the template renders it, if that leaves the prompt alone.

        The two are not the same: a tool call is written anew from its parts, and text is not cut as it was generated.
        """
        if done.reply is None:
            return []
        if done.reply.token_ids is not None:
            return done.reply.token_ids
        rendered = await self._rendered(done.request, done.reply.message)
        if common(prompt, rendered) < len(prompt):
            return []
        return rendered[len(prompt) :][: done.reply.usage.completion_tokens]

    async def _appended(self, request: ChatRequest) -> int | None:
        """How long the step before and its reply were, as far as this request carries the reply's own words.

        Words that the recording has and the engine never said are new to it: no template has lost them.
        """
        before = self._before
        if before is None:
            return None
        at = len(before.request.messages)
        carried = request.messages[at] if at < len(request.messages) else None
        if carried is None or before.message is None or carried.get("role") != "assistant":
            return len(before.tokens)
        if said(carried) == said(before.message):
            return len(before.tokens)
        return common(before.tokens, await self._rendered(before.request, carried))

    async def _rendered(self, request: ChatRequest, reply: Message) -> list[int]:
        return await self._tokenizer.tokenize(dataclasses.replace(request, messages=[*request.messages, reply]))


def _last_pass(reply: Reply | None) -> int:
    """Tokens of the last forward pass. With drafts that is all that was accepted in it: vLLM stores a block when the
    next pass is scheduled, and there is none."""
    if reply is None or not reply.usage.drafts or not reply.chunks:
        return 1
    return max(1, reply.chunks[-1].tokens or 1)
