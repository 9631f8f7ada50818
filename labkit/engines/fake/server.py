"""The fake's HTTP: routes, refusals, and its life as a context manager."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Self

from aiohttp import web

from labkit.engines.fake.core import Core
from labkit.engines.fake.dials import FakeDials, FakeReply
from labkit.engines.fake.stream import Stream
from labkit.engines.fake.tokens import ids, prompt_tokens

_SALT_FORBIDDEN = set("@/\\\0")


class FakeEngine:
    """A server on 127.0.0.1 for as long as the context lasts. `port` 0: any free one.

    `received`: the bodies of all chat requests, in order of arrival.
    """

    def __init__(self, dials: FakeDials | None = None, port: int = 0) -> None:
        self.dials = dials or FakeDials()
        self.model = self.dials.model
        self.received: list[dict[str, Any]] = []
        self._port = port
        self._scripted = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def running(self) -> int:
        """Requests that run now."""
        return int(self._core.metrics.value("num_requests_running"))

    def finished(self, reason: str) -> int:
        """Requests that ended so since the (re)start: stop, length, abort or error."""
        return int(self._core.metrics.value("request_success_total", finished_reason=reason))

    async def __aenter__(self) -> Self:
        await asyncio.sleep(self.dials.start_s)
        self.restart()
        # Without handler_cancellation, a request whose client has left would run to its end.
        self._runner = web.AppRunner(self._app(), handler_cancellation=True, shutdown_timeout=0.2, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def restart(self) -> None:
        """As if the process had been started anew on its port: empty cache, counters at 0, a new start time."""
        self._core = Core.new(self.dials)

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_get("/health", self._health)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/metrics/", self._metrics)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/tokenize", self._tokenize)
        app.router.add_post("/reset_prefix_cache", self._reset)
        app.router.add_post("/v1/completions", self._complete)
        app.router.add_post("/v1/chat/completions", self._chat)
        return app

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response()

    async def _metrics(self, request: web.Request) -> web.Response:
        """As vLLM: with a slash only the series that are named, where any is."""
        named = request.query.getall("name[]", []) if request.path.endswith("/") else []
        return web.Response(body=self._core.metrics.text(named), headers={"Content-Type": "text/plain; version=0.0.4"})

    async def _models(self, _: web.Request) -> web.Response:
        card = {"id": self.model, "object": "model", "owned_by": "fake", "max_model_len": self.dials.max_model_len}
        return web.json_response({"object": "list", "data": [card]})

    async def _tokenize(self, request: web.Request) -> web.Response:
        tokens = ids(prompt_tokens(await request.json(), self.dials.forgets_reasoning))
        return web.json_response(
            {"count": len(tokens), "max_model_len": self.dials.max_model_len, "tokens": tokens, "token_strs": None}
        )

    async def _reset(self, _: web.Request) -> web.Response:
        self._core.cache.clear()
        return web.json_response({"success": True})

    async def _complete(self, request: web.Request) -> web.Response:
        """One token: what the fleet asks for before it takes an engine for ready. Nothing is cached or counted."""
        body: dict[str, Any] = await request.json()
        if body.get("model") != self.model:
            return _refusal(404, f"The model `{body.get('model')}` does not exist. Valid aliases: {self.model}.")
        choice = {"index": 0, "text": "x", "logprobs": None, "finish_reason": "length"}
        return web.json_response({"object": "text_completion", "model": self.model, "choices": [choice]})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = await request.json()
        self.received.append(body)
        ordinal = len(self.received)
        fault = self.dials.fault if self.dials.fault and self.dials.fault.strikes(ordinal) else None
        if fault and fault.kind == "http":
            return _refusal(fault.status, fault.message)
        if refused := self._refused(body):
            return refused
        if self.dials.replies and self._scripted >= len(self.dials.replies):
            return _refusal(500, f"the script has only {len(self.dials.replies)} replies")
        return await Stream(self._core, body, self._next_reply(), fault, f"fake-{ordinal}").serve(request)

    def _refused(self, body: Mapping[str, Any]) -> web.Response | None:
        """What vLLM refuses, in its words."""
        salt, limit = body.get("cache_salt"), self.dials.max_model_len
        if body.get("model") != self.model:
            return _refusal(404, f"The model `{body.get('model')}` does not exist. Valid aliases: {self.model}.")
        if not body.get("stream"):
            return _refusal(400, "The fake engine only streams: set stream to true.")
        if salt is not None and (not salt or len(salt) > 128 or _SALT_FORBIDDEN & set(salt)):
            return _refusal(400, "Parameter 'cache_salt' must be at most 128 characters and must not contain '@'...")
        prompt = prompt_tokens(body, self.dials.forgets_reasoning)
        if (length := len(prompt) + int(body.get("max_tokens") or 16)) > limit:
            return _refusal(400, f"prompt and max_tokens make {length} tokens, but max_model_len={limit}.")
        return None

    def _next_reply(self) -> FakeReply | None:
        if not self.dials.replies:
            return None
        self._scripted += 1
        return self.dials.replies[self._scripted - 1]


def _refusal(status: int, message: str) -> web.Response:
    error = {"message": message, "type": "FakeError", "param": None, "code": status}
    return web.json_response({"error": error}, status=status)
