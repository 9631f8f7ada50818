"""Rounds of samples, and sources that fail."""

import asyncio
from collections.abc import Sequence
from typing import Any

from labkit.core.chat import ChatRequest
from labkit.core.clock import FakeClock
from labkit.core.records import SampleRecord
from labkit.engines.client import EngineClient
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.telemetry.engine_source import EngineSource
from labkit.telemetry.sampler import Sampler
from labkit.telemetry.source import Reading


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
    assert kept.events == [fault, ("telemetry_recovered", {"source": "b"})]


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
    kept = Kept()
    async with FakeEngine(FakeDials(reply_tokens=5)) as engine, EngineClient(engine.base_url, engine.model) as model:
        rounds = sampler(kept, EngineSource("e1/engine", f"{engine.base_url}/metrics"))
        await model.chat(ChatRequest(messages=[{"role": "user", "content": "hi"}]))
        await rounds.sample()
    await rounds.sample()
    alive, dead = ({sample.name: sample.value for sample in each} for each in kept.rounds)
    assert alive["vllm:generation_tokens_total"] == 5
    assert alive['vllm:prompt_tokens_by_source_total{source="local_compute"}'] == 4
    assert "vllm:spec_decode_num_drafts_total" not in alive
    assert set(dead) == set(alive)
    assert set(dead.values()) == {None}
    assert {sample.unit for sample in kept.rounds[0]} == {"tokens", "requests", "1", "s", "preemptions"}
