"""The machine's and the client's own health, sampled beside the whole run: the lab measures itself.

Energy and GPUs too, where this machine lets them be read; where it does not, the run says why. And the gauges of the
engine that is served, block by block: by a sampler of its own, so that an engine that hangs makes no hole in the
others' samples.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from labkit.core.clock import Clock
from labkit.experiments.at_rest import measure_at_rest
from labkit.experiments.gpus_seen import gpus_event
from labkit.experiments.serving import Served
from labkit.store.runs import RunWriter
from labkit.telemetry.client_health import ClientHealth
from labkit.telemetry.devices import EnergySource
from labkit.telemetry.energy import find_energy, gpu_sources
from labkit.telemetry.engine_source import EngineSource
from labkit.telemetry.host import HostSource
from labkit.telemetry.sampler import Sampler
from labkit.telemetry.source import Source


@asynccontextmanager
async def sampled(writer: RunWriter, clock: Clock, interval_s: float = 1.0) -> AsyncIterator[None]:
    """Samples of host, client, energy and GPUs go into the run while the block lasts.

    Before it begins, what can be read is watched at rest for some seconds.
    """
    with _energy(writer) as energy:
        await measure_at_rest(energy, writer, clock)
        _say_gpus(writer, energy, interval_s)
        async with ClientHealth() as client:
            sources: list[Source] = [HostSource(), client, *(part for source in energy for part in source.parts)]
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
        _say_slow(writer, energy, interval_s)


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


def _say_gpus(writer: RunWriter, energy: Sequence[EnergySource], interval_s: float) -> None:
    """Said after the GPUs were watched at rest, so that a driver that takes its time is known by then."""
    if gpus := gpu_sources(energy):
        writer.event("gpus", **gpus_event(gpus, writer.info.fingerprint, interval_s))


def _say_slow(writer: RunWriter, energy: Sequence[EnergySource], interval_s: float) -> None:
    """A reading that takes longer than the interval makes holes in the samples."""
    for source in gpu_sources(energy):
        if source.slowest_s > interval_s:
            writer.event("telemetry_slow", source=source.name, seconds=round(source.slowest_s, 3))
