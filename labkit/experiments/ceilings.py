"""The most prompt tokens that an infinite prefix cache could have served: what a step's hit rate is judged against.

It belongs to the requests and not to the arm, so every arm gets it, those without prefix caching too. With recorded
history it depends on one thing only: whether the engine said the recorded words. If it did, its own generated blocks
are the next prompt's prefix, too; if it did not, only earlier prompts are. Live history makes other requests in every
arm; its ceiling is not measured (null).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Protocol

from labkit.analysis.ceiling import prefix_ceiling
from labkit.core.chat import ChatRequest
from labkit.core.errors import RequestFailed
from labkit.traffic.recording import Recording


class Tokenizer(Protocol):
    """Whatever turns a request into the prompt's token ids; EngineClient does."""

    async def tokenize(self, request: ChatRequest) -> list[int]: ...


@dataclass(frozen=True)
class Ceilings:
    """Tokens for each step, by index: from earlier prompts alone, and from earlier prompts and recorded replies."""

    prompts: tuple[int, ...] = ()
    with_replies: tuple[int, ...] = ()

    def of(self, index: int, previous_as_recorded: bool) -> int | None:
        """The ceiling of step `index` (from 0), given whether the step before said what the recording says."""
        known = self.with_replies if previous_as_recorded else self.prompts
        return known[index] if index < len(known) else None


async def ceilings(recording: Recording, count: int, tokenizer: Tokenizer, block_size: int) -> Ceilings:
    """The ceilings of the first `count` steps. Empty when the engine cannot tokenize."""
    try:
        prompts = [await tokenizer.tokenize(recording.request(n)) for n in range(count)]
        replies = [await _reply(recording, n, len(prompts[n]), tokenizer) for n in range(count)]
    except RequestFailed:
        return Ceilings()
    with_replies = prefix_ceiling(prompts, block_size, generated=replies)
    return Ceilings(tuple(prefix_ceiling(prompts, block_size)), tuple(with_replies))


async def _reply(recording: Recording, index: int, prompt_length: int, tokenizer: Tokenizer) -> list[int]:
    """The recorded reply's tokens as the next prompt renders them; as many as were generated, where that is known."""
    request, step = recording.request(index), recording.steps[index]
    rendered = await tokenizer.tokenize(dataclasses.replace(request, messages=[*request.messages, step.reply]))
    return rendered[prompt_length:][: step.usage.completion_tokens]
