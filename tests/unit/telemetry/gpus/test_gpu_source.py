"""Several GPUs of one library, of which one fails, hangs or was never there."""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from labkit.core import gpus
from labkit.core.clock import FakeClock
from labkit.core.records import SampleRecord
from labkit.telemetry.devices import Unreadable
from labkit.telemetry.gpus.gpu import GpuFacts
from labkit.telemetry.gpus.source import GpuSource
from labkit.telemetry.sampler import Sampler


class Plain:
    """A GPU at 100 W whose every look takes a second of its counters; `dead` at the looks that are named."""

    wraps_at_j = None
    unread: Mapping[str, str] = {}

    def __init__(self, name: str, *dead: int) -> None:
        self.facts, self._dead, self.looks = GpuFacts(name=name), dead, 0
        self.answers = threading.Event()
        self.answers.set()

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def _there(self) -> bool:
        return self.looks not in self._dead

    def look(self) -> None:
        self.answers.wait(10)
        self.looks += 1
        if not self._there:
            raise Unreadable(f"{self.name}: it fell off the bus")

    def energy_j(self) -> float | None:
        return 100.0 * self.looks if self._there else None

    def power_w(self) -> float | None:
        return 100.0 if self._there else None

    def values(self) -> Mapping[str, float | None]:
        there = self._there
        return {gpus.VRAM_USED: 5e9 if there else None, gpus.LINK_READ: 1024.0 * self.looks if there else None}


class Kept:
    def __init__(self) -> None:
        self.samples: list[SampleRecord] = []
        self.events: list[tuple[str, dict[str, Any]]] = []

    def event(self, type: str, **data: Any) -> None:
        self.events.append((type, data))

    def values(self, name: str) -> list[float | None]:
        return [sample.value for sample in self.samples if sample.name == name]


def sampler(kept: Kept, source: GpuSource, **options: Any) -> Sampler:
    return Sampler("r", source.parts, kept.samples.extend, t0=0.0, clock=FakeClock(0.0), on_event=kept.event, **options)


async def test_one_falls_off_and_comes_back_while_the_other_is_read() -> None:
    """Look 1 is the first; what was counted while it could not be read is not lost."""
    kept, source = Kept(), GpuSource("amdsmi", [Plain("a"), Plain("b", 3, 4)])
    rounds = sampler(kept, source)
    for _ in range(5):
        await rounds.sample()
    assert kept.values("a/energy") == [0, 100, 200, 300, 400]
    assert kept.values("b/energy") == [0, None, None, 300, 400]
    assert kept.values("b/power") == [100, None, None, 100, 100]
    assert kept.values("b/link_read") == [0, None, None, 3072, 4096]
    assert kept.values("b/vram_used") == [5e9, None, None, 5e9, 5e9]
    said = "b: it fell off the bus"
    assert kept.events == [
        ("telemetry_fault", {"source": "amdsmi", "error": said}),
        ("telemetry_recovered", {"source": "amdsmi", "after": said}),
    ]
    assert {sample.source for sample in kept.samples} == {"amdsmi"}
    source.close()


async def test_one_that_was_never_there_is_nulls_from_the_first_round_on() -> None:
    kept, source = Kept(), GpuSource("amdsmi", [Plain("a"), Plain("b", *range(9))])
    assert source.failed == {"b": "b: it fell off the bus"}
    assert source.unread == ("b",)
    await sampler(kept, source).sample()
    assert kept.values("a/energy") == [0]
    assert kept.values("b/energy") == kept.values("b/vram_used") == [None]


async def test_a_driver_that_hangs_is_asked_once_and_the_loop_goes_on() -> None:
    kept, slow = Kept(), Plain("b")
    source = GpuSource("amdsmi", [Plain("a"), slow])
    rounds = sampler(kept, source, timeout_s=0.5)
    await rounds.sample()
    slow.answers.clear()
    for _ in range(3):
        await rounds.sample()
    slow.answers.set()
    async with asyncio.timeout(5):
        while slow.looks < 3:  # noqa: ASYNC110 (it is a thread that looks)
            await asyncio.sleep(0.005)
    await asyncio.sleep(0.02)
    await rounds.sample()
    assert kept.values("a/energy") == [0, 100, 200, 300, 400]
    assert kept.values("b/energy") == [0, None, None, None, 200]  # one look was under way, and was not asked for again
    assert [type for type, _ in kept.events] == ["telemetry_fault", "telemetry_recovered"]
    assert source.slowest_s >= 0.4


async def test_all_of_them_at_once_for_who_watches_them_at_rest() -> None:
    source = GpuSource("amdsmi", [Plain("a"), Plain("b", 2)])
    first, then = [{r.name: r.value for r in await source.read()} for _ in range(2)]
    assert (first["a/energy"], first["b/energy"]) == (0, None)
    assert (then["a/energy"], then["b/energy"]) == (100, 0)
    assert len(first) == len(then) == 8


def test_none_of_them_says_why_once() -> None:
    with pytest.raises(Unreadable) as raised:
        GpuSource("amdsmi", [Plain("a", 1), Plain("b", 1)])
    assert str(raised.value) == "2 GPUs, none of which tells anything: it fell off the bus"
    with pytest.raises(Unreadable, match=r"^0 GPUs, none of which tells anything$"):
        GpuSource("amdsmi", [])
