"""Reads sources at an interval while something else runs and never stops it: a fault is an event and nulls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from labkit.core.clock import Clock, SystemClock
from labkit.core.records import SampleRecord
from labkit.telemetry.source import Foretelling, Reading, Source

Sink = Callable[[Sequence[SampleRecord]], None]
OnEvent = Callable[..., None]
"""Called as `on_event(type, **data)`, like a run's own `event`."""


def _ignore(type: str, **data: Any) -> None:
    """Nobody listens."""


@dataclass
class _Watched:
    """A source and what is known of it: its latest readings, and whether it is at fault now."""

    source: Source
    latest: Sequence[Reading] = ()
    said: str = field(default="")
    """What is wrong with it now; empty when nothing is."""

    def blanks(self) -> list[Reading]:
        known = self.source.blanks() if isinstance(self.source, Foretelling) else self.latest
        return [Reading(reading.name, reading.unit, None) for reading in known]


class Sampler:
    """An async context manager; the sources are read at entry, every `interval_s`, and once more at exit.

    `run`: id of the run; `t0`: the clock at its start. `sink` gets each round's samples, `on_event` `telemetry_fault`
    (source, error) when a source begins to fail and `telemetry_recovered` (source, after: the error) when it answers
    again. A source that does not answer within `timeout_s` has failed.
    """

    def __init__(
        self,
        run: str,
        sources: Sequence[Source],
        sink: Sink,
        *,
        t0: float,
        clock: Clock | None = None,
        interval_s: float = 1.0,
        timeout_s: float = 5.0,
        on_event: OnEvent = _ignore,
    ) -> None:
        self._run, self._sink, self._on_event = run, sink, on_event
        self._t0, self._clock = t0, clock or SystemClock()
        self._interval_s, self._timeout_s = interval_s, timeout_s
        self._watched = [_Watched(source) for source in sources]
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._loop(), name="labkit sampler")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.sample()

    async def sample(self) -> None:
        """One round over all sources, at once."""
        rounds = await asyncio.gather(*(self._read(watched) for watched in self._watched))
        self._sink([sample for samples in rounds for sample in samples])

    async def _loop(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            await self.sample()
            due = max(due + self._interval_s, loop.time())
            await asyncio.sleep(due - loop.time())

    async def _read(self, watched: _Watched) -> list[SampleRecord]:
        try:
            async with asyncio.timeout(self._timeout_s):
                readings = await watched.source.read()
        except Exception as error:  # noqa: BLE001 (the edge: whatever a source does, it is recorded and the run goes on)
            readings = watched.blanks()
            self._fault(watched, error)
        else:
            watched.latest = readings
            self._recovered(watched)
        t = self._clock.now() - self._t0
        name = watched.source.name
        return [
            SampleRecord(run=self._run, t=t, source=name, name=r.name, unit=r.unit, value=r.value) for r in readings
        ]

    def _fault(self, watched: _Watched, error: Exception) -> None:
        if watched.said:
            return
        watched.said = str(error).splitlines()[0] if str(error) else type(error).__name__
        self._on_event("telemetry_fault", source=watched.source.name, error=watched.said)

    def _recovered(self, watched: _Watched) -> None:
        if watched.said:
            self._on_event("telemetry_recovered", source=watched.source.name, after=watched.said)
        watched.said = ""
