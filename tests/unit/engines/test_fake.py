"""The fake's own arithmetic: what is dialled is what is reported."""

import asyncio
import subprocess
import sys
import time

import pytest

from labkit.core.chat import ChatRequest, Message, Reply
from labkit.core.errors import BadInput, RequestFailed
from labkit.engines.client import EngineClient
from labkit.engines.fake import FakeDials, FakeEngine, FakeReply, Fault

TOOL = {
    "type": "function",
    "function": {
        "name": "read",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}


def ask(text: str, *, history: tuple[Message, ...] = (), salt: str | None = None, max_tokens: int = 8) -> ChatRequest:
    messages = [*history, {"role": "user", "content": text}]
    return ChatRequest(messages=messages, max_tokens=max_tokens, cache_salt=salt)


async def chat(dials: FakeDials, *requests: ChatRequest) -> list[Reply]:
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model) as model:
        return [await model.chat(request) for request in requests]


async def test_prompt_tokens_are_those_of_tokenize() -> None:
    async with FakeEngine() as engine, EngineClient(engine.base_url, engine.model) as model:
        request = ChatRequest(messages=[{"role": "user", "content": "x" * 42}], tools=[TOOL])
        reply, tokens = await model.chat(request), await model.tokenize(request)
    assert reply.usage.prompt_tokens == len(tokens)
    assert len(await _tokens(ask("x" * 42))) == 1 + 11 + 1 + 1  # role, 42 characters, end, assistant


async def _tokens(request: ChatRequest) -> list[int]:
    async with FakeEngine() as engine, EngineClient(engine.base_url, engine.model) as model:
        return await model.tokenize(request)


async def test_the_same_prompt_hits_whole_blocks_but_never_its_last_token() -> None:
    exact = ask("x" * 4 * 29)  # 32 tokens: two blocks of 16, of which the second holds the last token
    longer = ask("x" * 4 * 30)
    replies = await chat(FakeDials(block_size=16), exact, exact, longer, longer)
    assert [reply.usage.prompt_tokens for reply in replies] == [32, 32, 33, 33]
    assert [reply.usage.cached_tokens for reply in replies] == [0, 16, 16, 32]


async def test_the_next_turn_hits_what_decode_made() -> None:
    first = ask("x" * 4 * 10, max_tokens=40)
    dials = FakeDials(block_size=4, reply_tokens=40)
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model) as model:
        one = await model.chat(first)
        two = await model.chat(ask("go on", history=(*first.messages, one.message)))
    assert one.usage.prompt_tokens == 13
    assert two.usage.cached_tokens == (13 + 40) // 4 * 4


async def test_salt_and_switch_both_make_it_cold() -> None:
    long = "x" * 400
    salted = await chat(FakeDials(), ask(long), ask(long, salt="a"), ask(long, salt="a"), ask(long, salt="b"))
    assert [reply.usage.cached_tokens for reply in salted] == [0, 0, 96, 0]
    off = await chat(FakeDials(prefix_caching=False), ask(long), ask(long))
    assert [reply.usage.cached_tokens for reply in off] == [0, 0]


async def test_a_full_cache_forgets_the_oldest() -> None:
    a, b = ask("a" * 400), ask("b" * 400)
    replies = await chat(FakeDials(num_blocks=8, max_num_seqs=1), a, a, b, a)
    assert replies[1].usage.cached_tokens == 96
    assert (replies[3].usage.cached_tokens or 0) < 96


async def test_uncached_tokens_cost_time() -> None:
    cold, *warm = await chat(FakeDials(prefill_s_per_token=0.001), *[ask("x" * 400)] * 4)
    fastest = min(reply.usage.prefill_s or 9 for reply in warm)
    assert cold.usage.prefill_s is not None
    assert cold.usage.prefill_s >= 0.103
    assert 0.007 <= fastest < 0.103


async def test_speculation_counts_and_bundles() -> None:
    dials = FakeDials(num_spec_tokens=3, acceptance=(2, 0, 1), reply_tokens=10, itl_s=0.005)
    (reply,) = await chat(dials, ask("hi", max_tokens=10))
    usage = reply.usage
    assert usage.completion_tokens == 10
    assert (usage.drafts, usage.drafted_tokens, usage.accepted_tokens) == (4, 12, 2 + 0 + 1 + 2)
    assert [chunk.chars // 4 for chunk in reply.chunks] == [1, 3, 1, 2, 3]


async def test_without_speculation_its_numbers_are_null() -> None:
    (reply,) = await chat(FakeDials(), ask("hi"))
    assert reply.usage.drafts is reply.usage.drafted_tokens is reply.usage.accepted_tokens is None


async def test_stream_interval_bundles_tokens() -> None:
    (reply,) = await chat(FakeDials(stream_interval=4, itl_s=0.003, reply_tokens=10), ask("hi", max_tokens=10))
    assert [chunk.chars // 4 for chunk in reply.chunks] == [1, 4, 4, 1]
    assert reply.usage.completion_tokens == 10


async def test_lengths() -> None:
    stopped, cut, filled = await chat(
        FakeDials(reply_tokens=5),
        ask("hi", max_tokens=9),
        ask("hi", max_tokens=3),
        ChatRequest(messages=[{"role": "user", "content": "hi"}], max_tokens=9, ignore_eos=True),
    )
    assert (stopped.finish_reason, stopped.usage.completion_tokens) == ("stop", 5)
    assert (cut.finish_reason, cut.usage.completion_tokens) == ("length", 3)
    assert (filled.finish_reason, filled.usage.completion_tokens) == ("length", 9)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "read"}}])
async def test_a_forced_tool_is_called_with_what_it_requires(choice: object) -> None:
    request = ChatRequest(messages=[{"role": "user", "content": "hi"}], tools=[TOOL], tool_choice=choice)
    (reply,) = await chat(FakeDials(), request)
    (call,) = reply.message["tool_calls"]
    assert call["function"] == {"name": "read", "arguments": '{"path": "x"}'}
    assert reply.finish_reason == "tool_calls"


async def test_a_script_is_followed_and_then_ends() -> None:
    script = (FakeReply(content="one", reasoning="because"), FakeReply(content="two"))
    with pytest.raises(RequestFailed, match="only 2 replies"):
        await chat(FakeDials(replies=script), ask("a"), ask("b"), ask("c"))
    first, second = await chat(FakeDials(replies=script), ask("a"), ask("b"))
    assert (first.message["content"], second.message["content"]) == ("one", "two")
    assert (first.usage.reasoning_tokens, second.usage.reasoning_tokens) == (2, None)


async def test_fifty_streams_at_once() -> None:
    dials = FakeDials(ttft_s=0.05, itl_s=0.01, reply_tokens=10)
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model) as model:
        start = time.monotonic()
        replies = await asyncio.gather(*(model.chat(ask(f"number {i}", max_tokens=10)) for i in range(50)))
        wall = time.monotonic() - start
    assert [reply.message["content"] for reply in replies] == [replies[0].message["content"]] * 50
    assert all(len(reply.chunks) == 10 for reply in replies)
    assert wall < 50 * 0.14 / 2  # one after the other they would take 7 s


async def test_more_than_max_num_seqs_wait_in_the_queue() -> None:
    dials = FakeDials(ttft_s=0.1, max_num_seqs=1)
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model) as model:
        replies = await asyncio.gather(*(model.chat(ask("hi")) for _ in range(3)))
    queues = sorted(reply.usage.queue_s or 0 for reply in replies)
    assert queues[1] >= 0.1
    assert queues[2] >= 0.2


@pytest.mark.parametrize("dials", [{"acceptance": (1,)}, {"acceptance": ()}, {"block_size": 0}])
def test_dials_that_make_no_sense(dials: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        FakeDials(**dials)


def test_unknown_fault() -> None:
    with pytest.raises(BadInput, match="die_mid_stream"):
        Fault(kind="explode")


async def test_as_a_process_it_serves_and_obeys_sigterm() -> None:
    command = [sys.executable, "-m", "labkit.engines.fake", "--num-spec-tokens", "2", "--acceptance", "1,2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: ASYNC220
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        async with EngineClient(url, "fake") as model:
            reply = await model.chat(ask("hi", max_tokens=6))
        process.terminate()
        assert process.wait(5) == 0
    assert (reply.usage.drafts, reply.usage.accepted_tokens) == (2, 3)


def test_as_a_process_it_can_refuse_to_start() -> None:
    command = [sys.executable, "-m", "labkit.engines.fake", "--refuse", "ValueError: not on this machine"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "not on this machine" in result.stderr
