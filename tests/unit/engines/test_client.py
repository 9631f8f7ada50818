"""The client against real servers: times, and every way in which a request can fail."""

import asyncio
import dataclasses
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer, unused_port

from labkit.core.chat import ChatRequest, Chunk
from labkit.core.errors import EngineDied, RequestFailed
from labkit.engines.client import EngineClient
from labkit.engines.fake import FakeDials, FakeEngine, FakeReply, Fault

HELLO = ChatRequest(messages=[{"role": "user", "content": "hello"}], max_tokens=8)
Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def fake(dials: FakeDials, **client: float) -> AsyncIterator[tuple[FakeEngine, EngineClient]]:
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model, **client) as model:
        yield engine, model


@asynccontextmanager
async def served(handler: Handler) -> AsyncIterator[EngineClient]:
    async with RawTestServer(handler) as server, EngineClient(str(server.make_url("")), "any") as model:
        yield model


async def failure(model: EngineClient) -> RequestFailed:
    with pytest.raises(RequestFailed) as caught:
        await model.chat(HELLO)
    return caught.value


async def test_times_follow_the_dials() -> None:
    async with fake(FakeDials(ttft_s=0.08, itl_s=0.02, reply_tokens=5)) as (_, model):
        reply = await model.chat(HELLO)
    assert reply.t_first_token is not None
    assert reply.t_last is not None
    assert reply.t_first_token - reply.t_send >= 0.08
    assert reply.t_last - reply.t_first_token >= 0.04  # four gaps of 0.02, less what the first event lost on its way
    assert reply.t_end >= reply.t_last
    assert len(reply.chunks) == reply.usage.completion_tokens == 5
    assert reply.usage.prefill_s is not None
    assert reply.usage.decode_s is not None
    assert reply.usage.prefill_s >= 0.08
    assert reply.usage.decode_s >= 0.08


async def test_a_role_that_comes_early_does_not_start_the_answer() -> None:
    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n')
        await asyncio.sleep(0.1)
        await response.write(b'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n')
        await response.write(b"data: [DONE]\n\n")
        return response

    async with served(handler) as model:
        reply = await model.chat(HELLO)
    assert reply.t_first_token is not None
    assert reply.t_first_token - reply.t_send >= 0.1


async def test_chunks_are_handed_over_while_they_arrive() -> None:
    seen: list[tuple[float, Chunk]] = []
    async with fake(FakeDials(itl_s=0.02, reply_tokens=4)) as (_, model):
        reply = await model.chat(HELLO, lambda chunk: seen.append((time.monotonic(), chunk)))
    assert [chunk for _, chunk in seen] == list(reply.chunks)
    assert seen[-1][0] - seen[0][0] >= 0.02


async def test_reasoning_then_tool_call_through_the_wire() -> None:
    arguments = '{"path":  "a b"}'
    script = (FakeReply(reasoning="let me see", tool_calls=(("ls", arguments),)),)
    async with fake(FakeDials(itl_s=0.05, replies=script)) as (_, model):
        reply = await model.chat(ChatRequest(messages=HELLO.messages, max_tokens=50))
    assert reply.finish_reason == "tool_calls"
    assert reply.message["reasoning"] == "let me see"
    assert reply.message["tool_calls"][0]["function"] == {"name": "ls", "arguments": arguments}
    assert reply.t_first_visible is not None
    assert reply.t_first_token is not None
    assert reply.t_first_visible > reply.t_first_token


async def test_the_request_goes_out_whole() -> None:
    extra = {"min_tokens": 2, "temperature": 0.7}
    known = {"temperature": 0.5, "seed": 7, "cache_salt": "s", "ignore_eos": True}
    request = ChatRequest(messages=HELLO.messages, max_tokens=3, extra=extra, **known)
    async with fake(FakeDials()) as (engine, model):
        await model.chat(request)
    body = engine.received[0]
    assert (body["seed"], body["cache_salt"], body["ignore_eos"], body["min_tokens"]) == (7, "s", True, 2)
    assert body["temperature"] == 0.7
    assert body["stream_options"] == {"include_usage": True}
    assert "tools" not in body


async def test_http_error_keeps_the_engines_words() -> None:
    async with fake(FakeDials(fault=Fault(kind="http", status=500, message="EngineCore died"))) as (_, model):
        error = await failure(model)
    assert error.status == 500
    assert "EngineCore died" in error.message
    assert error.partial is None


async def test_refused_request_is_a_400() -> None:
    async with fake(FakeDials(max_model_len=5)) as (_, model):
        error = await failure(model)
    assert error.status == 400
    assert "max_model_len=5" in error.message


async def test_plain_text_error() -> None:
    async def handler(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=503, text="no healthy upstream\n")

    async with served(handler) as model:
        error = await failure(model)
    assert error.message.endswith("answered HTTP 503: no healthy upstream")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("die_mid_stream", "broke the connection"),
        ("no_finish", "without a finish_reason"),
        ("error_in_stream", "within the stream: the fault dial is on"),
    ],
)
async def test_a_broken_stream_keeps_what_had_arrived(kind: str, words: str) -> None:
    async with fake(FakeDials(itl_s=0.01, fault=Fault(kind=kind, after_chunks=2))) as (_, model):
        error = await failure(model)
    assert words in error.message
    assert error.partial is not None
    assert len(error.partial.chunks) == 2
    assert error.partial.message["content"] == "   0   1"
    assert error.partial.finish_reason is None


async def test_a_stream_without_done_is_cut() -> None:
    async def handler(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text='data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n')

    async with served(handler) as model:
        error = await failure(model)
    assert "without [DONE]" in error.message


@pytest.mark.parametrize("text", ["data: {not json\n\n", "data: [1]\n\n"])
async def test_an_event_that_is_no_event(text: str) -> None:
    async def handler(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text=text)

    async with served(handler) as model:
        assert "sent an event that is not" in (await failure(model)).message


async def test_an_aborted_reply_is_no_reply() -> None:
    async def handler(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text='data: {"choices":[{"delta":{},"finish_reason":"abort"}]}\n\ndata: [DONE]\n\n')

    async with served(handler) as model:
        assert "'abort'" in (await failure(model)).message


async def test_silence_and_slowness_are_told_apart() -> None:
    async with fake(FakeDials(fault=Fault(kind="hang", after_chunks=1)), stall_s=0.5) as (_, model):
        error = await failure(model)
    assert "sent nothing for 0.5 s" in error.message
    assert error.partial is not None
    async with fake(FakeDials(itl_s=0.05, reply_tokens=100), timeout_s=0.6) as (_, model):
        request = ChatRequest(messages=HELLO.messages, max_tokens=100)
        with pytest.raises(RequestFailed, match=r"did not finish within 0\.6 s") as caught:
            await model.chat(request)
    assert caught.value.partial is not None


async def test_nobody_there() -> None:
    async with EngineClient(f"http://127.0.0.1:{unused_port()}", "any") as model:
        error = await failure(model)
    assert "cannot be reached" in error.message
    assert error.status is None
    assert "labkit ps" in error.hint


async def test_cancelling_stops_the_engine() -> None:
    async with fake(FakeDials(itl_s=0.02, reply_tokens=1000)) as (engine, model):
        started = asyncio.Event()
        request = ChatRequest(messages=HELLO.messages, max_tokens=1000)
        task = asyncio.create_task(model.chat(request, lambda _: started.set()))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with asyncio.timeout(5):
            while engine.finished("abort") == 0:  # noqa: ASYNC110 (the engine is at the other end of a socket)
                await asyncio.sleep(0.01)
        assert engine.running == 0


async def test_a_fault_does_not_spoil_the_next_request() -> None:
    async with fake(FakeDials(fault=Fault(kind="die_mid_stream", every=2))) as (_, model):
        await model.chat(HELLO)
        await failure(model)
        assert (await model.chat(HELLO)).finish_reason == "length"


async def test_a_closed_client_says_so() -> None:
    model = EngineClient("http://127.0.0.1:1", "any")
    with pytest.raises(RuntimeError, match="async with"):
        await model.chat(HELLO)


async def test_tokens_that_the_parser_holds_back_count_from_their_own_time() -> None:
    call = FakeReply(tool_calls=(("read_file", '{"path": "a.py"}'),))
    request = dataclasses.replace(HELLO, max_tokens=64)
    async with fake(FakeDials(itl_s=0.03, held_tokens=3, replies=(call, call))) as (_, model):
        seen = await model.chat(request)
        late = await model.chat(dataclasses.replace(request, extra={"return_token_ids": False}))
    assert [chunk.kind for chunk in seen.chunks[:4]] == ["held", "held", "held", "tool"]
    assert sum(chunk.tokens for chunk in seen.chunks) == seen.usage.completion_tokens
    assert seen.t_first_visible - seen.t_first_token >= 3 * 0.03 * 0.9
    assert seen.message["tool_calls"][0]["function"] == late.message["tool_calls"][0]["function"]
    assert late.chunks[0].kind == "tool"
    assert late.chunks[0].tokens is None
    assert late.t_first_token == late.t_first_visible


async def test_a_session_is_told_to_the_router_and_not_to_the_engine() -> None:
    heard: list[str | None] = []

    async def handler(request: web.BaseRequest) -> web.StreamResponse:
        heard.extend((request.headers.get("X-Session-Id"), (await request.json()).get("session", "not in the body")))
        return web.Response(status=503, text="no")

    async with served(handler) as model:
        for session in ("agent-1", None):
            with pytest.raises(RequestFailed):
                await model.chat(dataclasses.replace(HELLO, session=session))
    assert heard == ["agent-1", "not in the body", None, "not in the body"]


async def test_an_engine_that_is_gone_is_waited_for_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.engines.watched._EVERY_S", 0.05)
    asked = 0

    def gone() -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise EngineDied("engine of e.base ended while it was measured", "Its log says why.")

    async with fake(FakeDials(fault=Fault(kind="hang", after_chunks=1)), watch=gone) as (_, model):
        async with asyncio.timeout(10):
            error = await failure(model)
    assert error.message == "engine of e.base ended while it was measured"
    assert error.partial is not None
    assert asked == 3


async def test_an_engine_that_lives_is_asked_for_and_left_alone() -> None:
    async with fake(FakeDials(itl_s=0.01), watch=lambda: None) as (_, model):
        assert (await model.chat(HELLO)).finish_reason == "length"
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "labkit watch"]
