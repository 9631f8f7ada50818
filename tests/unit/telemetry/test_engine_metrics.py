"""Pages to counts: known requests against the fake, and every way in which two readings do not belong together."""

import asyncio

import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer, unused_port

from labkit.core.chat import ChatRequest
from labkit.core.clock import FakeClock
from labkit.core.errors import EngineError
from labkit.engines.client import EngineClient
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.telemetry.engine_metrics import Counts, Delta, delta, parse, scrape
from labkit.telemetry.names import COUNTS, Series

PAGE = """# TYPE process_start_time_seconds gauge
process_start_time_seconds {start}
# TYPE vllm:kv_cache_usage_perc gauge
vllm:kv_cache_usage_perc{{engine="0",model_name="m"}} 0.2
vllm:kv_cache_usage_perc{{engine="1",model_name="m"}} 0.4
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{{engine="0",model_name="m"}} 2
vllm:num_requests_running{{engine="1",model_name="m"}} 3
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{{engine="0",model_name="m"}} {first}
vllm:generation_tokens_total{{engine="1",model_name="m"}} {second}
# TYPE vllm:generation_tokens_created gauge
vllm:generation_tokens_created{{engine="0",model_name="m"}} 1.79e+09
# TYPE vllm:iteration_tokens_total histogram
vllm:iteration_tokens_total_bucket{{engine="0",le="1.0",model_name="m"}} 1
vllm:iteration_tokens_total_bucket{{engine="0",le="+Inf",model_name="m"}} 4
vllm:iteration_tokens_total_count{{engine="0",model_name="m"}} 4
vllm:iteration_tokens_total_sum{{engine="0",model_name="m"}} 16
"""


def page(start: float = 100.0, first: float = 10, second: float = 5) -> str:
    return PAGE.format(start=start, first=first, second=second)


async def during(dials: FakeDials, *requests: ChatRequest) -> Counts:
    """What the fake counted while it served these requests."""
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model) as model:
        await model.chat(ChatRequest(messages=[{"role": "user", "content": "before"}]))
        before = await scrape(f"{engine.base_url}/metrics")
        for request in requests:
            await model.chat(request)
        return delta(before, await scrape(f"{engine.base_url}/metrics")).counts


def ask(text: str, max_tokens: int = 16) -> ChatRequest:
    return ChatRequest(messages=[{"role": "user", "content": text}], max_tokens=max_tokens)


async def test_prompt_tokens_by_source_and_hit_rate() -> None:
    counts = await during(FakeDials(block_size=16), ask("x" * 400), ask("x" * 400))
    assert (counts.requests, counts.prompt_tokens, counts.generation_tokens) == (2, 206, 32)
    assert (counts.prefix_queries, counts.prefix_hits) == (206, 96)
    assert (counts.prompt_computed, counts.prompt_cached, counts.prompt_transferred) == (110, 96, 0)
    assert counts.preemptions == 0


async def test_without_prefix_caching_nothing_is_looked_up() -> None:
    counts = await during(FakeDials(prefix_caching=False), ask("x" * 400))
    assert (counts.prefix_queries, counts.prefix_hits, counts.prompt_computed) == (0, 0, 103)


async def test_acceptance() -> None:
    dials = FakeDials(num_spec_tokens=3, acceptance=(2, 0, 1), reply_tokens=10)
    counts = await during(dials, ask("hi", max_tokens=10))
    assert (counts.drafts, counts.drafted_tokens, counts.accepted_tokens) == (4, 12, 5)
    assert counts.accepted_per_position == (3, 2, 0)


async def test_transfers() -> None:
    counts = await during(FakeDials(transfer_s=0.01, kv_bytes_per_token=1000), ask("x" * 400))
    assert (counts.transfers, counts.transfer_failures, counts.transfer_bytes) == (1, 0, 102_000)
    assert counts.transfers_expired == 0
    assert counts.transfer_s == pytest.approx(0.01)
    assert (counts.prompt_computed, counts.prompt_transferred) == (1, 102)


async def test_what_the_engine_does_not_have_is_null() -> None:
    counts = await during(FakeDials(), ask("hi"))
    absent = ("drafts", "drafted_tokens", "accepted_tokens", "accepted_per_position")
    absent += ("transfers", "transfer_bytes", "transfer_failures", "transfer_s", "transfers_expired")
    assert [getattr(counts, name) for name in absent] == [None] * len(absent)


async def test_seconds_are_sums_over_requests() -> None:
    counts = await during(FakeDials(ttft_s=0.03, itl_s=0.01, reply_tokens=4), ask("a"), ask("b"))
    assert (counts.prefill_s or 0) >= 0.06
    assert (counts.decode_s or 0) >= 0.06
    assert counts.queue_s is not None


async def test_gauges_and_config_while_it_runs() -> None:
    dials = FakeDials(ttft_s=0.3, max_num_seqs=1, num_blocks=77, block_size=8)
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model) as model:
        url = f"{engine.base_url}/metrics"
        tasks = [asyncio.create_task(model.chat(ask("hi"))) for _ in range(3)]
        async with asyncio.timeout(5):
            while (now := (await scrape(url)).now).waiting != 2:  # noqa: ASYNC110 (it is at the other end of a socket)
                await asyncio.sleep(0.01)
        await asyncio.gather(*tasks)
        after = (await scrape(url)).now
    assert (now.running, now.waiting, now.num_gpu_blocks, now.block_size) == (1, 2, 77, 8)
    assert (after.running, after.waiting) == (0, 0)


async def test_a_restarted_engine_has_no_delta() -> None:
    async with FakeEngine() as engine, EngineClient(engine.base_url, engine.model) as model:
        await model.chat(ask("hi"))
        before = await scrape(f"{engine.base_url}/metrics")
        engine.restart()
        for _ in range(3):  # its counters are past the first reading again
            await model.chat(ask("hi"))
        got = delta(before, await scrape(f"{engine.base_url}/metrics"))
    assert got.restarted
    assert "process_start_time_seconds" in got.why
    assert got.counts == Counts()


def test_a_counter_that_fell_is_a_restart_too() -> None:
    before, after = parse(page(first=10), t=1.0), parse(page(first=4), t=3.5)
    got = delta(before, after)
    assert (got.restarted, got.seconds) == (True, 2.5)
    assert got.why == "vllm:generation_tokens_total fell from 15 to 9"
    assert got.growth(COUNTS["generation_tokens"]) is None


def test_engines_of_one_page_are_added_and_ratios_averaged() -> None:
    before, after = parse(page()), parse(page(first=30, second=6))
    assert delta(before, after).counts.generation_tokens == 21
    assert after.now.running == 5
    assert after.now.kv_usage == pytest.approx(0.3)
    assert after.now.num_gpu_blocks is None


def test_a_histogram_with_total_in_its_name_is_a_histogram() -> None:
    snapshot = parse(page())
    assert snapshot.value(Series("vllm:iteration_tokens_total_sum", "tokens")) == 16
    assert snapshot.value(Series("vllm:iteration_tokens_total", "tokens")) is None


def test_a_series_that_appears_in_between_started_at_zero() -> None:
    line = '# TYPE vllm:request_success_total counter\nvllm:request_success_total{finished_reason="stop"} 3\n'
    assert delta(parse(page()), parse(page() + line)).counts.requests == 3


def test_prefills_expired_blocks_and_decodes_failed_reads_are_told_apart() -> None:
    """Prefill counts prompts whose KV nobody fetched in time, decode counts reads that failed: vLLM's own names."""
    line = "# TYPE vllm:nixl_num_{0}_total counter\nvllm:nixl_num_{0}_total {1}\n"
    before = page() + line.format("kv_expired_reqs", 1) + line.format("failed_transfers", 5)
    after = page() + line.format("kv_expired_reqs", 3) + line.format("failed_transfers", 6)
    counts = delta(parse(before), parse(after)).counts
    assert (counts.transfers_expired, counts.transfer_failures) == (2, 1)


def test_nothing_happened_is_zero_and_not_null() -> None:
    got = delta(parse(page()), parse(page()))
    assert got == Delta(seconds=0.0, grown=got.grown)
    assert got.counts.generation_tokens == 0


async def test_the_time_of_a_reading_is_the_clocks() -> None:
    async with FakeEngine() as engine:
        assert (await scrape(f"{engine.base_url}/metrics", FakeClock(12.5))).t == 12.5


async def test_pages_that_cannot_be_read() -> None:
    with pytest.raises(EngineError, match="cannot be read"):
        await scrape(f"http://127.0.0.1:{unused_port()}/metrics")
    with pytest.raises(EngineError, match="not a Prometheus page"):
        parse("vllm:generation_tokens_total many\n")

    async def slow(_: web.BaseRequest) -> web.StreamResponse:
        await asyncio.sleep(2)
        return web.Response()

    async with RawTestServer(slow) as server:
        with pytest.raises(EngineError, match=r"no answer within 0\.1 s"):
            await scrape(str(server.make_url("/metrics")), timeout_s=0.1)
