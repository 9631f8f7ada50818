"""The streaming client: one request in, one timed Reply out, or RequestFailed. It never retries: a retry hides a fault
and spoils a time.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any, Self

import aiohttp

from labkit.core.chat import ChatRequest, Chunk, Reply
from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import RequestFailed
from labkit.engines import refusals
from labkit.engines.assemble import Assembler
from labkit.engines.bearer import Bearer
from labkit.engines.dialect import Dialect
from labkit.engines.request import chat_body, tokenize_body
from labkit.engines.sse import SseParser
from labkit.engines.watched import Watch, watched

OnChunk = Callable[[Chunk], None]


class EngineClient:
    """One engine's chat completions, as core.chat.Model. Use it as an async context manager.

    `base_url`: http://127.0.0.1:port, without /v1. `timeout_s`: longest whole request. `stall_s`: longest silence
    within one, the wait for the first byte included; None for no such limit. `watch`: raises EngineError when the
    engine is gone; it is asked every few seconds while a request waits. `bearer`: the key that every request carries.
    `dialect`: whose engine it is, where that matters (see engines.dialect).
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        clock: Clock | None = None,
        timeout_s: float = 300,
        stall_s: float | None = 120,
        watch: Watch | None = None,
        bearer: Bearer | None = None,
        dialect: Dialect = "vllm",
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.model = model
        self.clock = clock or SystemClock()
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, sock_connect=10, sock_read=stall_s)
        self._watch = watch
        self._bearer = bearer
        self._dialect: Dialect = dialect
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        # A fresh connection each time costs every request alike; a kept one may be closed by the server under our feet.
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        self._session = aiohttp.ClientSession(connector=connector, timeout=self._timeout)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session:
            await self._session.close()
        self._session = None

    async def chat(self, request: ChatRequest, on_chunk: OnChunk | None = None) -> Reply:
        """Stream one reply; `on_chunk` is called as each chunk arrives. Times are readings of the client's clock.

        Raises RequestFailed for an HTTP error, an error within the stream, a stream cut short, a timeout, an engine
        that is gone or cannot be reached; what had arrived is its `partial`. Cancelling closes the connection, which
        stops the engine.
        """
        parts = Assembler(self._dialect)
        body = json.dumps(chat_body(request, self.model, self._dialect)).encode()
        t_send = self.clock.now()
        try:
            async with watched(self._watch), self._post("/v1/chat/completions", body, request.session) as response:
                await self._read(response, parts, on_chunk)
        except RequestFailed as failure:
            if parts.chunks:
                failure.partial = parts.reply(t_send, self.clock.now())
            raise
        return parts.reply(t_send, self.clock.now())

    async def tokenize(self, request: ChatRequest) -> list[int]:
        """The token ids of the prompt that this request makes. Raises RequestFailed like `chat`."""
        body = json.dumps(tokenize_body(request, self.model)).encode()
        async with self._post("/tokenize", body) as response:
            answer: Any = await response.json()
        tokens = answer.get("tokens") if isinstance(answer, dict) else None
        if not isinstance(tokens, list):
            raise RequestFailed(f"{self.base_url}/tokenize answered without `tokens`", "It is not vLLM's /tokenize.")
        return [int(token) for token in tokens]

    @asynccontextmanager
    async def _post(self, path: str, body: bytes, session: str | None = None) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._session is None:
            raise RuntimeError("EngineClient is closed: use it in `async with EngineClient(...) as client`")
        url, headers = self.base_url + path, {"Content-Type": "application/json"}
        headers |= self._bearer.headers if self._bearer else {}
        if session is not None:
            # vllm-router reads the first, SGLang's router the second.
            headers |= {"X-Session-Id": session, "X-SMG-Routing-Key": session}
        try:
            async with self._session.post(url, data=body, headers=headers) as response:
                if response.status != 200:
                    raise refusals.of_status(url, response.status, await response.text(errors="replace"))
                yield response
        except RequestFailed as failure:
            if self._bearer:  # a server that refuses a key may say it back
                failure.message = self._bearer.hidden(failure.message)
                failure.args = (failure.message,)
            raise
        except (aiohttp.ClientError, TimeoutError) as error:
            raise refusals.of_transport(url, error, self._timeout) from error

    async def _read(self, response: aiohttp.ClientResponse, parts: Assembler, on_chunk: OnChunk | None) -> None:
        parser, url, done = SseParser(), str(response.url), False
        async for block in response.content.iter_any():
            t, began = self.clock.now(), time.perf_counter()
            try:
                done = _take_in(parser.feed(block), url, t, parts, on_chunk)
            finally:
                parts.parse_s += time.perf_counter() - began
            if done:
                break
        refusals.check_finished(url, parts.finish_reason, done=done)


def _take_in(events: Iterable[str], url: str, t: float, parts: Assembler, on_chunk: OnChunk | None) -> bool:
    """Add the events that one network block completed; whether the last of the stream was among them."""
    for data in events:
        if data == "[DONE]":
            return True
        chunk = parts.add(refusals.checked_event(url, data), t)
        if chunk and on_chunk:
            on_chunk(chunk)
    return False
