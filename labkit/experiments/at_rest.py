"""What the machine draws before a run sends anything, so that energy can be told apart from mere waiting.

Where nothing can be read nothing is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from labkit.core.clock import Clock
from labkit.core.energy import ENERGY, IDLE_POWER, POWER, series
from labkit.core.records import SampleRecord
from labkit.store.runs import RunWriter
from labkit.telemetry.devices import EnergySource

_SECONDS = 5.0
_EVERY_S = 0.5


async def measure_at_rest(
    sources: Sequence[EnergySource], writer: RunWriter, clock: Clock, seconds: float = _SECONDS
) -> None:
    """Watch the devices for `seconds`, and keep the idle power of each as a sample of the run."""
    if not sources:
        return
    rounds: list[tuple[float, Mapping[str, Mapping[str, float | None]]]] = []
    due = clock.now() + seconds
    while not rounds or clock.now() < due:
        rounds.append((clock.now(), {each.name: await _values(each) for each in sources}))
        await asyncio.sleep(_EVERY_S)
    rounds.append((clock.now(), {each.name: await _values(each) for each in sources}))
    for source in sources:
        watched = [(t, values[source.name]) for t, values in rounds]
        writer.samples([_sample(writer, clock, source.name, device, watched) for device in source.devices])


async def _values(source: EnergySource) -> dict[str, float | None]:
    return {reading.name: reading.value for reading in await source.read()}


def _sample(
    writer: RunWriter,
    clock: Clock,
    source: str,
    device: str,
    watched: Sequence[tuple[float, Mapping[str, float | None]]],
) -> SampleRecord:
    t, name = clock.now() - writer.t0, series(device, IDLE_POWER)
    return SampleRecord(run=writer.id, t=t, source=source, name=name, unit="W", value=_idle_w(device, watched))


def _idle_w(device: str, watched: Sequence[tuple[float, Mapping[str, float | None]]]) -> float | None:
    """By the counter where there is one, else the mean of the powers."""
    (t0, first), (t1, last) = watched[0], watched[-1]
    before, after = first.get(series(device, ENERGY)), last.get(series(device, ENERGY))
    if before is not None and after is not None:
        return (after - before) / (t1 - t0) if t1 > t0 else None
    powers = [power for _, values in watched if (power := values.get(series(device, POWER))) is not None]
    return sum(powers) / len(powers) if powers else None
