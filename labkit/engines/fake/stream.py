"""One request through the fake: queue, prefill, decode, and the events on the wire."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from labkit.engines.fake import report
from labkit.engines.fake.core import Core, Slot
from labkit.engines.fake.dials import FakeReply, Fault
from labkit.engines.fake.generation import Step, Token, default_reply, delta, fitted, reply_tokens, steps
from labkit.engines.fake.tokens import ids, prompt_tokens


@dataclass
class Stream:
    """One streamed chat completion. `reply`: what to say; `fault`: how to fail, or None."""

    core: Core
    body: Mapping[str, Any]
    reply: FakeReply | None
    fault: Fault | None
    id: str
    _events: list[float] = field(default_factory=list)
    _steps: list[Step] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Answer as vLLM does: role, chunks, usage, [DONE]. A client that leaves is counted as an abort."""
        self.response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await self.response.prepare(request)
        self._plan()
        self._arrived = time.monotonic()
        reason = "abort"
        try:
            async with Slot(self.core, len(self._prompt)):
                reason = await self._generate(request)
        except ConnectionError:
            pass  # the client left between two events
        finally:
            self.core.metrics.finished(reason, self._arrived, self._scheduled, self._events)
        return self.response

    def _plan(self) -> None:
        dials = self.core.dials
        self._prompt = prompt_tokens(self.body, dials.forgets_reasoning)
        self._salt: str | None = self.body.get("cache_salt")
        spoken = reply_tokens(self.reply or default_reply(self.body, dials))
        self._tokens, self._finish = fitted(spoken, self.body)
        self._steps = list(steps(self._tokens, dials))
        self._scheduled = time.monotonic()

    async def _generate(self, request: web.Request) -> str:
        await self._prefill()
        chunks = list(self._chunks())
        strike = min(self.fault.after_chunks, len(chunks) - 1) if self.fault else None
        started: set[int] = set()
        held: list[Token] = []
        sent = 0
        for index, chunk in enumerate(chunks):
            await self._run(chunk, first=index == 0)
            if index == 0:
                await self._send(_choice({"role": "assistant", "content": ""}))
            if self.fault and index == strike:
                await self._break(self.fault, request)
                return "error"
            tokens = [token for step in chunk for token in step.tokens]
            finish = self._finish if index == len(chunks) - 1 else None
            sent, held = sent + len(tokens), [*held, *tokens]
            if sent <= self.core.dials.held_tokens and not finish:
                await self._send_held(tokens)
                continue
            event = _choice(delta(held, started, self.id), finish)
            await self._send(self._with_ids(event, tokens))
            held = []
        # What the last step made is sampled, accepted, and never fed back: no block has it.
        self._store(len(self._tokens) - len(self._steps[-1].tokens))
        await self._send({"choices": [], **self._report()})
        await self.response.write(b"data: [DONE]\n\n")
        return self._finish

    async def _send_held(self, tokens: Sequence[Token]) -> None:
        """As vLLM does: an event without text where token ids are asked for, else none."""
        if self.body.get("return_token_ids"):
            await self._send(self._with_ids(_choice({}), tokens))

    def _with_ids(self, event: dict[str, Any], tokens: Sequence[Token]) -> dict[str, Any]:
        if self.body.get("return_token_ids"):
            event["choices"][0]["token_ids"] = ids(token.text for token in tokens)
        return event

    def _report(self) -> dict[str, Any]:
        usage = report.usage(len(self._prompt), self._cached, self._tokens)
        timings = report.timings(self._arrived, self._scheduled, self._events)
        return {"usage": usage, "metrics": timings | report.speculation(self._steps, self.core.dials.num_spec_tokens)}

    async def _prefill(self) -> None:
        dials, prompt = self.core.dials, ids(self._prompt)
        self._scheduled = time.monotonic()
        local = self.core.cache.hit(prompt, self._salt) if dials.prefix_caching else 0
        external = len(prompt) - 1 - local if dials.transfer_s is not None else 0
        self._cached = local + external
        self.core.metrics.scheduled(len(prompt), local, external, self._scheduled - self._arrived)
        uncached = len(prompt) - self._cached
        async with self.core.turn():
            await asyncio.sleep(dials.ttft_s + dials.prefill_s_per_token * uncached + (dials.transfer_s or 0))
        self._store(0)

    def _store(self, generated: int) -> None:
        text = [token.text for token in self._tokens[:generated]]
        if self.core.dials.prefix_caching:
            self.core.cache.store(ids([*self._prompt, *text]), self._salt)

    def _chunks(self) -> Iterator[list[Step]]:
        """Steps as they are sent: the first alone, then as many as make `stream_interval` tokens."""
        held: list[Step] = []
        for index, step in enumerate(self._steps):
            held.append(step)
            if index == 0 or sum(len(each.tokens) for each in held) >= self.core.dials.stream_interval:
                yield held
                held = []
        if held:
            yield held

    async def _run(self, chunk: list[Step], *, first: bool) -> None:
        for step in chunk:
            if not first:
                async with self.core.turn():
                    pass
            await asyncio.sleep(0 if first else self.core.dials.itl_s)
            self._events.append(time.monotonic())
            self.core.metrics.step(step)

    async def _break(self, fault: Fault, request: web.Request) -> None:
        if fault.kind == "hang":
            await asyncio.Event().wait()
        elif fault.kind == "die_mid_stream" and request.transport:
            request.transport.abort()
        elif fault.kind == "error_in_stream":
            error = {"message": fault.message, "type": "InternalServerError", "param": None, "code": fault.status}
            await self.response.write(f"data: {json.dumps({'error': error})}\n\ndata: [DONE]\n\n".encode())

    async def _send(self, event: Mapping[str, Any]) -> None:
        head = {"id": self.id, "object": "chat.completion.chunk", "model": self.core.dials.model}
        await self.response.write(f"data: {json.dumps({**head, **event})}\n\n".encode())


def _choice(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}]}
