"""The most prompt tokens that an infinite prefix cache could have served: what a step's hit rate is judged against.

It belongs to the requests, so every arm gets it, those without prefix caching too. What was seen before a step is every
earlier prompt of the pass (each pass has a salt of its own) and what the engine generated to it, whose blocks the next
prompt finds as far as it carries the same words: all the way in live history, and in recorded history as far as the
engine said what the recording says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol

from labkit.analysis.ceiling import PrefixIndex
from labkit.core.chat import ChatRequest
from labkit.core.errors import RequestFailed
from labkit.traffic.replay import Replayed


class Tokenizer(Protocol):
    """Whatever turns a request into the prompt's token ids; EngineClient does."""

    async def tokenize(self, request: ChatRequest) -> list[int]: ...


class Ceiling:
    """The ceilings of one pass, step by step. Nothing is measured (None) without a block size or a tokenizer."""

    def __init__(self, tokenizer: Tokenizer, block_size: int | None) -> None:
        self._tokenizer = tokenizer
        self._seen = PrefixIndex(block_size) if block_size else None

    async def of(self, done: Replayed) -> int | None:
        """Tokens of this step's prompt that were seen before it. Asks the tokenizer: call it when nothing is timed."""
        if self._seen is None:
            return None
        try:
            prompt = await self._tokenizer.tokenize(done.request)
            generated = await self._generated(done, len(prompt))
        except RequestFailed:
            self._seen = None
            return None
        ceiling = self._seen.ceiling(prompt)
        self._seen.add([*prompt, *generated])
        return ceiling

    async def _generated(self, done: Replayed, prompt_length: int) -> Sequence[int]:
        """The reply as the next prompt would render it, without the last token: that one is sampled, never computed."""
        if done.reply is None:
            return ()
        spoken = dataclasses.replace(done.request, messages=[*done.request.messages, done.reply.message])
        rendered = await self._tokenizer.tokenize(spoken)
        return rendered[prompt_length:][: done.reply.usage.completion_tokens][:-1]
