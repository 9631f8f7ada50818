"""All GPUs of one library: energy and power as any device has them, and what else a GPU tells.

Each GPU is read in a thread of its own and is a part that can fail on its own: a GPU that fell off its bus is an event
and nulls, while the others are read. A driver that hangs is not asked again before it has answered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from threading import Thread

from labkit.core.energy import series
from labkit.core.gpus import SERIES
from labkit.telemetry.counter import Rising
from labkit.telemetry.devices import EnergySource, Unreadable
from labkit.telemetry.gpus.gpu import Gpu
from labkit.telemetry.source import Reading, Source


class GpuPart:
    """One GPU as a source of samples; `name` is the library's, so that all its GPUs stand under one.

    `slowest_s`: the longest that the GPU took to answer. `joules_and_watts`: these readings, as of its last look.
    """

    def __init__(self, name: str, gpu: Gpu, joules_and_watts: Callable[[], list[Reading]]) -> None:
        self.name = name
        self.slowest_s = 0.0
        self._gpu = gpu
        self._joules_and_watts = joules_and_watts
        self._pending: Future[list[Reading]] | None = None
        self._counters = {what: Rising() for what, known in SERIES.items() if known.counts}

    async def read(self) -> Sequence[Reading]:
        """Raises Unreadable, naming the GPU, when it tells nothing."""
        if self._pending and not self._pending.done():
            raise Unreadable(f"{self._gpu.name}: the driver has not answered the reading before")
        self._pending = _in_a_thread(self._now)
        return await asyncio.shield(asyncio.wrap_future(self._pending))

    def blanks(self) -> list[Reading]:
        """The readings of a GPU that tells nothing."""
        names = self._more(dict.fromkeys(self._gpu.values()))
        return [Reading(reading.name, reading.unit, None) for reading in (*self._joules_and_watts(), *names)]

    def _now(self) -> list[Reading]:
        started = time.perf_counter()
        try:
            self._gpu.look()
        finally:
            self.slowest_s = max(self.slowest_s, time.perf_counter() - started)
        return [*self._joules_and_watts(), *self._more(self._gpu.values())]

    def _more(self, values: Mapping[str, float | None]) -> list[Reading]:
        return [self._reading(what, value) for what, value in values.items()]

    def _reading(self, what: str, value: float | None) -> Reading:
        counter = self._counters.get(what)
        return Reading(series(self._gpu.name, what), SERIES[what].unit, counter.total(value) if counter else value)


class GpuSource(EnergySource):
    """Raises Unreadable when no GPU tells anything."""

    def __init__(self, name: str, gpus: Sequence[Gpu], close: Callable[[], None] = lambda: None) -> None:
        self.gpus = tuple(gpus)
        self.failed = {gpu.name: said for gpu in gpus if (said := _looked(gpu))}
        """GPUs that told nothing when they were first asked, and why."""
        if len(self.failed) == len(gpus):
            raise Unreadable(f"{len(gpus)} GPUs, none of which tells anything{_reasons(self.failed)}")
        super().__init__(name, gpus, close)
        pairs = zip(self.gpus, self._reads, strict=True)
        self._parts = tuple(GpuPart(name, gpu, read.readings) for gpu, read in pairs)

    @property
    def parts(self) -> tuple[Source, ...]:
        return self._parts

    @property
    def slowest_s(self) -> float:
        """The longest that one GPU took to answer."""
        return max(part.slowest_s for part in self._parts)

    async def read(self) -> Sequence[Reading]:
        """Of all GPUs; nulls of one that tells nothing."""
        rounds = await asyncio.gather(*(self._of(part) for part in self._parts))
        return [reading for readings in rounds for reading in readings]

    async def _of(self, part: GpuPart) -> Sequence[Reading]:
        try:
            return await part.read()
        except Unreadable:
            return part.blanks()

    def _tells_more(self) -> bool:
        return True


def _reasons(failed: Mapping[str, str]) -> str:
    """Each once, without the names of the GPUs."""
    said = dict.fromkeys(text.removeprefix(f"{name}: ") for name, text in failed.items())
    return f": {'; '.join(said)}" if said else ""


def _looked(gpu: Gpu) -> str | None:
    """Why it tells nothing; None when it does."""
    try:
        gpu.look()
    except Unreadable as error:
        return str(error)
    return None


def _in_a_thread(work: Callable[[], list[Reading]]) -> Future[list[Reading]]:
    """A daemon's, since a driver that hangs for good must not keep the lab from ending."""
    future: Future[list[Reading]] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001 (whatever a driver raises belongs to who asked)
            future.set_exception(error)

    Thread(target=run, name="labkit gpu", daemon=True).start()
    return future
