"""Rounds of samples, and sources that fail."""

import asyncio
from collections.abc import Sequence
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

from labkit.core.chat import ChatRequest
from labkit.core.clock import FakeClock
from labkit.core.records import SampleRecord
from labkit.engines.client import EngineClient
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.telemetry.engine_source import EngineSource
from labkit.telemetry.names import KV_USAGE
from labkit.telemetry.sampler import Sampler
from labkit.telemetry.source import Reading

PAGE = "# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc 0.25\n# TYPE vllm:x counter\nvllm:x_total 1\n"


class Scripted:
    """A source that gives or raises what it is told, read after read; then the last again."""

    def __init__(self, name: str, *reads: Sequence[Reading] | Exception) -> None:
        self.name = name
        self._reads = list(reads)

    async def read(self) -> Sequence[Reading]:
        now = self._reads.pop(0) if len(self._reads) > 1 else self._reads[0]
        if isinstance(now, Exception):
            raise now
        return now


class Kept:
    """A sink and a listener."""

    def __init__(self) -> None:
        self.rounds: list[Sequence[SampleRecord]] = []
        self.events: list[tuple[str, dict[str, Any]]] = []

    def event(self, type: str, **data: Any) -> None:
        self.events.append((type, data))


def sampler(kept: Kept, *sources: Any, **options: Any) -> Sampler:
    return Sampler("r1", sources, kept.rounds.append, t0=10.0, on_event=kept.event, **options)


async def test_samples_are_on_the_runs_clock() -> None:
    kept, clock = Kept(), FakeClock(12.0)
    await sampler(kept, Scripted("host", [Reading("cpu", "%", 3.0)]), clock=clock).sample()
    assert kept.rounds == [[SampleRecord(run="r1", t=2.0, source="host", name="cpu", unit="%", value=3.0)]]


async def test_a_fault_is_one_event_and_nulls_and_the_others_go_on() -> None:
    kept = Kept()
    good, bad = (
        Scripted("a", [Reading("x", "s", 1.0)]),
        Scripted("b", [Reading("y", "s", 2.0)], OSError("gone\nfor good"), OSError("gone"), [Reading("y", "s", 4.0)]),
    )
    rounds = sampler(kept, good, bad)
    for _ in range(4):
        await rounds.sample()
    assert [[sample.value for sample in each] for each in kept.rounds] == [[1, 2], [1, None], [1, None], [1, 4]]
    fault = ("telemetry_fault", {"source": "b", "error": "gone"})
    assert kept.events == [fault, ("telemetry_recovered", {"source": "b", "after": "gone"})]


async def test_a_source_that_hangs_has_failed() -> None:
    class Hangs:
        name = "stuck"

        async def read(self) -> Sequence[Reading]:
            await asyncio.Event().wait()
            return ()

    kept = Kept()
    await sampler(kept, Hangs(), timeout_s=0.05).sample()
    assert kept.events == [("telemetry_fault", {"source": "stuck", "error": "TimeoutError"})]


async def test_it_reads_at_its_interval_and_once_at_the_end() -> None:
    kept = Kept()
    async with sampler(kept, Scripted("a", [Reading("x", "s", 1.0)]), interval_s=0.02):
        async with asyncio.timeout(5):
            while len(kept.rounds) < 3:  # noqa: ASYNC110 (the sink is called from the sampler's own task)
                await asyncio.sleep(0.005)
        before = len(kept.rounds)
    assert len(kept.rounds) == before + 1
    await asyncio.sleep(0.05)
    assert len(kept.rounds) == before + 1


async def test_a_late_round_is_skipped_and_not_made_up_for() -> None:
    kept = Kept()

    class Slow:
        name = "slow"

        async def read(self) -> Sequence[Reading]:
            await asyncio.sleep(0.1)
            return [Reading("x", "s", 1.0)]

    async with sampler(kept, Slow(), interval_s=0.01):
        await asyncio.sleep(0.35)
    assert 1 <= len(kept.rounds) <= 5


async def test_an_engines_page_as_samples() -> None:
    """A prompt of 10 tokens (7 and 3 marks) in blocks of 4, of which there are 32."""
    kept = Kept()
    dials = FakeDials(ttft_s=0.4, block_size=4, num_blocks=32, reply_tokens=5)
    async with FakeEngine(dials) as engine, EngineClient(engine.base_url, engine.model) as model:
        rounds = sampler(kept, EngineSource("e1/engine", f"{engine.base_url}/metrics"))
        asking = asyncio.create_task(model.chat(ChatRequest(messages=[{"role": "user", "content": "a" * 28}])))
        await asyncio.sleep(0.2)
        await rounds.sample()
        await asking
        await rounds.sample()
    await rounds.sample()
    busy, free, dead = ({sample.name: sample.value for sample in each} for each in kept.rounds)
    assert busy == {"vllm:num_requests_running": 1, "vllm:num_requests_waiting": 0, KV_USAGE: 3 / 32}
    assert free == {"vllm:num_requests_running": 0, "vllm:num_requests_waiting": 0, KV_USAGE: 0}
    assert dead == dict.fromkeys(busy)
    assert {sample.unit for sample in kept.rounds[0]} == {"requests", "1"}


async def test_of_a_page_only_the_named_series_are_asked_for() -> None:
    asked: list[str] = []

    async def page(request: web.Request) -> web.Response:
        asked.append(request.path)
        if request.path.endswith("/"):
            raise web.HTTPNotFound
        return web.Response(text=PAGE)

    async with FakeEngine(FakeDials()) as engine, aiohttp.ClientSession(engine.base_url) as session:
        answer = await session.get("/metrics/?name[]=vllm:num_requests_running")
        lines = [line for line in (await answer.text()).splitlines() if not line.startswith("#")]
    assert [line.partition("{")[0] for line in lines] == ["vllm:num_requests_running"]

    app = web.Application()
    app.router.add_get("/metrics{slash:/?}", page)
    async with TestServer(app) as server:  # a server that does not know the address with the slash
        whole = EngineSource("e2/engine", str(server.make_url("/metrics")))
        for _ in range(2):
            assert [(reading.name, reading.value) for reading in await whole.read()] == [(KV_USAGE, 0.25)]
    assert asked == ["/metrics/", "/metrics", "/metrics"]
