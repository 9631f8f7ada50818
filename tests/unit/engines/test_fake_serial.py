"""The fake engine that prefills one prompt at a time: how long a prompt waits, and what a stream in progress feels."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from labkit.core.chat import ChatRequest, Reply
from labkit.engines.client import EngineClient
from labkit.engines.fake import FakeDials, FakeEngine

pytestmark = pytest.mark.alone

PREFILL_S = 0.15


def ask(tokens: int) -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": "go"}], max_tokens=tokens, ignore_eos=True)


def ttft(reply: Reply) -> float:
    assert reply.t_first_token is not None
    return reply.t_first_token - reply.t_send


async def test_prompts_wait_in_line() -> None:
    dials = FakeDials(serial_prefill=True, ttft_s=PREFILL_S)
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model) as client:
        replies = await asyncio.gather(*(client.chat(ask(1)) for _ in range(3)))
    waits = sorted(map(ttft, replies))
    assert waits == pytest.approx([PREFILL_S, 2 * PREFILL_S, 3 * PREFILL_S], abs=0.1)


@pytest.mark.parametrize("serial", [True, False])
async def test_a_prompt_that_arrives_stops_a_stream_only_where_prefill_is_serial(serial: bool) -> None:
    dials = FakeDials(serial_prefill=serial, ttft_s=PREFILL_S, itl_s=0.01)
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model) as client:
        stream = asyncio.create_task(client.chat(ask(30)))
        await asyncio.sleep(PREFILL_S + 0.1)
        await client.chat(ask(1))
        times = [chunk.t for chunk in (await stream).chunks]
    longest = max(b - a for a, b in pairwise(times))
    assert (longest >= PREFILL_S) == serial
