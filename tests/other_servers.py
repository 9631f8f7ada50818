"""Servers with the OpenAI API that are not a bare vLLM, as they look from outside: a small proxy before a FakeEngine.

Their answers have the shape of those of SGLang 0.5.23, Ray Serve 2.60, vllm-router 0.1.17 and an Envoy gateway.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

from labkit.engines.fake import FakeDials, FakeEngine

API = ("/v1/models", "/v1/chat/completions", "/tokenize")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """`says`: whole path to its JSON; `pages`: to its text; `passes`: paths behind the prefix that reach the engine.

    `drops`: fields that neither request nor reply has on the other side; `refuses`: fields of a request that are
    answered with 400.
    """

    prefix: str = ""
    says: Mapping[str, Any] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    passes: tuple[str, ...] = API
    headers: Mapping[str, str] = field(default_factory=dict)
    owned_by: str = "fake"
    models: tuple[str, ...] = ("fake",)
    key: str | None = None
    drops: frozenset[str] = frozenset()
    refuses: frozenset[str] = frozenset()


SGLANG_INFO = {
    "version": "0.5.23", "tokenizer_path": "m", "page_size": 16, "disable_radix_cache": False,
    "speculative_algorithm": None, "disaggregation_mode": "null", "api_key": "never to be kept",
}  # fmt: skip
SGLANG = Shape(
    says={"/server_info": SGLANG_INFO},
    owned_by="sglang",
    drops=frozenset({"metrics", "prompt_tokens_details"}),
    refuses=frozenset({"return_token_ids"}),  # in a stream
)
RAY = Shape(
    prefix="/chat", says={"/-/routes": {"/chat": "my-app"}}, owned_by="organization-owner", drops=frozenset({"metrics"})
)
GATEWAY = Shape(
    prefix="/pool", passes=(*API, "/metrics"), headers={"Server": "envoy", "x-envoy-upstream-service-time": "3"}
)
_WORKERS = [{"url": "http://p:1", "worker_type": "prefill"}, {"url": "http://d:2", "worker_type": "decode"}]
ROUTER = Shape(says={"/workers": {"workers": _WORKERS}})
BARE = Shape(drops=frozenset({"metrics", "token_ids", "prompt_tokens_details", "cache_salt"}), passes=API[:2])


class Front:
    """The proxy. `seen`: bodies of chat requests, `sent_keys`: Authorization headers, in order."""

    def __init__(self, engine: FakeEngine, shape: Shape) -> None:
        self.engine, self.shape = engine, shape
        self.seen: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        answer = await self._answer(request)
        answer.headers.update(self.shape.headers)
        return answer

    async def _answer(self, request: web.Request) -> web.Response:
        shape, path = self.shape, request.path.removeprefix(self.shape.prefix)
        if request.path in shape.says:
            return web.json_response(shape.says[request.path])
        if request.path in shape.pages:
            return web.Response(text=shape.pages[request.path])
        if not request.path.startswith(shape.prefix) or path not in shape.passes:
            return web.Response(status=404, text=f"Path '{request.path}' not found.")
        self.keys.append(request.headers.get("Authorization"))
        if shape.key and path != "/metrics" and self.keys[-1] != f"Bearer {shape.key}":
            return web.json_response({"error": {"message": f"no such key: {self.keys[-1]}"}}, status=401)
        if path == "/v1/models":
            cards = [{"id": name, "object": "model", "owned_by": shape.owned_by} for name in shape.models]
            return web.json_response({"object": "list", "data": cards})
        return await self._forward(request, path)

    async def _forward(self, request: web.Request, path: str) -> web.Response:
        body = json.loads(await request.read() or "{}")
        if path == "/v1/chat/completions":
            self.seen.append(body)
            if refused := self.shape.refuses & set(body):
                return web.json_response({"error": {"message": f"unknown field {', '.join(refused)}"}}, status=400)
        body = {name: value for name, value in body.items() if name not in self.shape.drops}
        async with (
            aiohttp.ClientSession() as http,
            http.request(request.method, self.engine.base_url + path, json=body or None) as there,
        ):
            text = await there.text()
            return web.Response(status=there.status, text=self._without(text), content_type=there.content_type)

    def _without(self, text: str) -> str:
        """The events of a stream without the fields that this server does not have."""
        lines = []
        for line in text.split("\n"):
            if line.startswith("data: {"):
                line = f"data: {json.dumps(_cut(json.loads(line[6:]), self.shape.drops))}"
            lines.append(line)
        return "\n".join(lines)


def _cut(data: Any, names: frozenset[str]) -> Any:
    if isinstance(data, dict):
        return {name: _cut(value, names) for name, value in data.items() if name not in names}
    return [_cut(item, names) for item in data] if isinstance(data, list) else data


@asynccontextmanager
async def serving(shape: Shape, dials: FakeDials | None = None) -> AsyncIterator[tuple[str, Front]]:
    """The address before /v1, its prefix included, and the proxy, as long as the context lasts."""
    async with FakeEngine(dials) as engine:
        front, app = Front(engine, shape), web.Application()
        app.router.add_route("*", "/{path:.*}", front)
        async with TestServer(app) as server:
            yield f"http://127.0.0.1:{server.port}{shape.prefix}", front
