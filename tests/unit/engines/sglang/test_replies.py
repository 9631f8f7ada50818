"""What SGLang's chat API has otherwise than vLLM's: a server that answers and refuses as its serving_chat.py does."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import web
from aiohttp.test_utils import RawTestServer

from labkit.core.arms import arm_named
from labkit.core.chat import ChatRequest, Reply
from labkit.engines.client import EngineClient
from labkit.engines.dialect import dialect_of
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.request import chat_body

GAP_S = 0.05
USAGE = {"prompt_tokens": 100, "completion_tokens": 12, "total_tokens": 112, "reasoning_tokens": 0}
DRAFTS = {"spec_verify_ct": 4, "spec_num_proposed_drafts": 28, "spec_num_correct_drafts": 8, "spec_accept_rate": 0.28}
CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


OPENING = delta(role="assistant", content="")
END = [
    {"choices": [], "sglext": {"spec_tokens_details": DRAFTS, "output_ids": [[7, 8, 9]]}},
    {"choices": [], "usage": {**USAGE, "prompt_tokens_details": {"cached_tokens": 64}}},
]


async def reply_of(*events: dict[str, Any], asked: list[web.BaseRequest] | None = None) -> Reply:
    """What the client makes of these events, a pause before all but the first."""

    async def serve(request: web.BaseRequest) -> web.StreamResponse:
        body = await request.json()
        if asked is not None:
            asked.append(request)
        if body["stream"] and body.get("return_token_ids"):
            return web.json_response({"message": "return_token_ids is not supported with streaming"}, status=400)
        response = web.StreamResponse()
        await response.prepare(request)
        for number, event in enumerate(events):
            await asyncio.sleep(GAP_S if number else 0)
            await response.write(f"data: {json.dumps(event)}\n\n".encode())
        await response.write(b"data: [DONE]\n\n")
        return response

    async with RawTestServer(serve) as server:
        url = str(server.make_url("")).rstrip("/")
        async with EngineClient(url, "qwen3", dialect="sglang") as client:
            return await client.chat(ChatRequest(messages=[{"role": "user", "content": "hi"}], session="agent-1"))


async def test_usage_drafts_and_ids_are_read_where_sglang_puts_them() -> None:
    reply = await reply_of(OPENING, delta(content="Yes."), delta("stop"), *END)
    usage = reply.usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (100, 64, 12)
    assert (usage.drafts, usage.drafted_tokens, usage.accepted_tokens) == (4, 28, 8)
    assert (usage.queue_s, usage.prefill_s, usage.decode_s) == (None, None, None)
    assert reply.token_ids == (7, 8, 9)
    assert [chunk.tokens for chunk in reply.chunks] == [None]


async def test_without_the_servers_reports_nothing_is_made_up() -> None:
    usage = (await reply_of(OPENING, delta(content="Yes."), delta("stop"), {"choices": [], "usage": USAGE})).usage
    assert (usage.cached_tokens, usage.drafts, usage.accepted_tokens) == (None, None, None)


async def test_a_tool_calls_first_token_is_the_opening_event() -> None:
    reply = await reply_of(OPENING, delta(tool_calls=[CALL]), delta("tool_calls"), *END)
    assert [chunk.kind for chunk in reply.chunks] == ["held", "tool"]
    assert reply.t_first_token is not None
    assert reply.t_first_visible is not None
    assert reply.t_first_visible - reply.t_first_token >= GAP_S * 0.9
    assert reply.message["tool_calls"][0]["function"]["arguments"] == '{"path": "."}'


async def test_text_makes_no_chunk_of_its_opening_event() -> None:
    reply = await reply_of(OPENING, delta(content="Yes"), delta(content="."), delta("stop"), *END)
    assert [chunk.kind for chunk in reply.chunks] == ["content", "content"]


async def test_a_session_is_named_for_either_router() -> None:
    asked: list[web.BaseRequest] = []
    await reply_of(OPENING, delta(content="."), delta("stop"), *END, asked=asked)
    assert asked[0].headers["X-SMG-Routing-Key"] == asked[0].headers["X-Session-Id"] == "agent-1"


def test_token_ids_in_a_stream_are_asked_of_vllm_alone() -> None:
    request = ChatRequest(messages=[], cache_salt="s")
    ours, theirs = chat_body(request, "m", "sglang"), chat_body(request, "m")
    assert "return_token_ids" not in ours
    assert (ours["return_spec_tokens_details"], ours["cache_salt"]) == (True, "s")
    assert theirs["return_token_ids"] is True
    assert "return_spec_tokens_details" not in theirs


def test_whose_api_it_is_stands_in_the_plan_or_was_told() -> None:
    for name, dialect in (("mi300x-8-qwen3-235b-sglang", "sglang"), ("mi300x-8-qwen3-235b", "vllm")):
        assert dialect_of(make_plan(load_profile(name), arm_named("all")).to_dict()) == dialect
    assert dialect_of(None, {"known": {"maker": "sglang"}}) == "sglang"
    assert dialect_of(None, {"known": {"maker": None}}) == dialect_of(None, {}) == dialect_of(None) == "vllm"
