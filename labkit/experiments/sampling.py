"""The machine's and the client's own health, sampled beside the whole run: the lab measures itself.

Energy too, where this machine lets it be read; where it does not, the run says why. And the gauges of the engine that
is served, block by block: by a sampler of its own, so that an engine that hangs makes no hole in the others' samples.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from labkit.core.clock import Clock
from labkit.experiments.at_rest import measure_at_rest
from labkit.experiments.serving import Served
from labkit.store.runs import RunWriter
from labkit.telemetry.client_health import ClientHealth
from labkit.telemetry.devices import EnergySource
from labkit.telemetry.energy import find_energy
from labkit.telemetry.engine_source import EngineSource
from labkit.telemetry.host import HostSource
from labkit.telemetry.sampler import Sampler
from labkit.telemetry.source import Source


@asynccontextmanager
async def sampled(writer: RunWriter, clock: Clock) -> AsyncIterator[None]:
    """Samples of host, client and energy go into the run, once a second, while the block lasts.

    Before it begins, what can be read is watched at rest for some seconds.
    """
    with _energy(writer) as energy:
        await measure_at_rest(energy, writer, clock)
        async with ClientHealth() as client:
            sources: list[Source] = [HostSource(), client, *energy]
            async with Sampler(writer.id, sources, writer.samples, t0=writer.t0, clock=clock, on_event=writer.event):
                yield


@asynccontextmanager
async def engine_sampled(
    writer: RunWriter, served: Served, clock: Clock, interval_s: float = 1.0
) -> AsyncIterator[None]:
    """Samples of each process of this engine go into the run while the block lasts.

    A page that cannot be read is an event and nulls, and never stops the run.
    """
    sources = [EngineSource(f"{served.engine}/{role}", url) for role, url in served.metrics.items()]
    async with Sampler(
        writer.id,
        sources,
        writer.samples,
        t0=writer.t0,
        clock=clock,
        interval_s=interval_s,
        on_event=writer.event,
    ):
        yield


@contextmanager
def _energy(writer: RunWriter) -> Iterator[list[EnergySource]]:
    """The sources that can be read; what is read, and why others are not, stands in the run's events."""
    found = find_energy()
    writer.event("energy", read={each.name: list(each.devices) for each in found.sources}, unread=found.unread)
    try:
        yield found.sources
    finally:
        for source in found.sources:
            source.close()
