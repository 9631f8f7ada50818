"""SGLang's router itself, as a plan starts it, before two workers that keep what reaches them."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import sglang_wheel
from aiohttp import web
from aiohttp.test_utils import TestServer

from labkit.core.arms import arm_named
from labkit.core.chat import ChatRequest
from labkit.engines.client import EngineClient
from labkit.engines.plan import make_plan
from labkit.engines.ports import free_ports
from labkit.engines.profiles import load_profile

pytestmark = pytest.mark.engine

PROFILE = load_profile("mi300x-8-qwen3-235b-sglang")
MODEL = PROFILE.model.served
INFO = {"served_model_name": MODEL, "model_path": "/m", "version": "0.5.23", "tp_size": 4, "dp_size": 1}
CARD = {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1, "owned_by": "sglang"}]}
ANSWERS: dict[str, Any] = {"/health": {}, "/server_info": INFO, "/model_info": INFO, "/v1/models": CARD}
EVENTS = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]},
    {"choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}]},
    {"choices": [], "sglext": {"spec_tokens_details": {"spec_verify_ct": 3, "spec_num_correct_drafts": 5}}},
    {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}},
]
Bodies = dict[str, list[dict[str, Any]]]


def worker(name: str, bodies: Bodies) -> web.Application:
    """What SGLang's server says of itself, and a stream."""

    async def chat(request: web.Request) -> web.StreamResponse:
        bodies[name].append(await request.json())
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        lines = [f"data: {json.dumps(event)}\n\n" for event in EVENTS]
        await response.write("".join([*lines, "data: [DONE]\n\n"]).encode())
        return response

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(ANSWERS[request.path])

    app = web.Application()
    app.router.add_post("/v1/chat/completions", chat)
    for path in ANSWERS:
        app.router.add_get(path, answer)
    return app


@asynccontextmanager
async def routed(arm: str, folder: Path) -> AsyncIterator[tuple[str, Bodies]]:
    """The router of this arm before two workers in its engines' places."""
    plan, bodies = make_plan(PROFILE, arm_named(arm)), defaultdict(list)
    roles = [process.role for process in plan.layout[:-1]]
    async with TestServer(worker(roles[0], bodies)) as one, TestServer(worker(roles[1], bodies)) as other:
        ports = free_ports(plan.port_names) | {roles[0]: one.port, roles[1]: other.port}
        router = plan.with_ports(ports).entry
        with (folder / "router.log").open("w") as log:
            command = [sglang_wheel.python(folder), *router.argv[1:]]
            process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=subprocess.STDOUT)
        try:
            await ready(f"http://127.0.0.1:{router.port}/readiness")
            yield f"http://127.0.0.1:{router.port}", bodies
        finally:
            process.terminate()
            await process.wait()


async def ready(url: str) -> None:
    """/health says that the router runs, this that it knows its workers."""
    async with aiohttp.ClientSession() as http:
        for _ in range(300):
            try:
                async with http.get(url) as response:
                    if response.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)
    raise AssertionError("the router did not become ready")


async def test_a_session_stays_and_what_the_lab_asks_for_reaches_the_engine(tmp_path: Path) -> None:
    async with routed("base", tmp_path) as (url, bodies), EngineClient(url, MODEL, dialect="sglang") as client:
        for turn in range(2):
            for session in range(8):
                text = f"turn {turn}"
                asked = ChatRequest(
                    messages=[{"role": "user", "content": text}], session=f"s{session}", cache_salt=f"salt-{session}"
                )
                reply = await client.chat(asked)
                assert (reply.usage.drafts, reply.usage.accepted_tokens) == (3, 5)
    where = {name: {body["cache_salt"] for body in got} for name, got in bodies.items()}
    assert set(where) == {"engine-0", "engine-1"}, "both are used"
    assert where["engine-0"] & where["engine-1"] == set(), "no session changed its engine"
    assert sum(len(got) for got in bodies.values()) == 16
    assert all(body["return_spec_tokens_details"] and body["max_tokens"] for got in bodies.values() for body in got)


async def test_both_halves_get_the_request_and_meet_in_one_room(tmp_path: Path) -> None:
    async with routed("pd", tmp_path) as (url, bodies), EngineClient(url, MODEL, dialect="sglang") as client:
        reply = await client.chat(ChatRequest(messages=[{"role": "user", "content": "hi"}], cache_salt="s"))
    assert reply.message["content"] == "Yes."
    (prefill,), (decode,) = bodies["prefill"], bodies["decode"]
    assert prefill["bootstrap_room"] == decode["bootstrap_room"]
    assert (decode["bootstrap_host"], str(decode["bootstrap_port"]).isdigit()) == ("127.0.0.1", True)
    assert prefill["cache_salt"] == decode["cache_salt"] == "s"
