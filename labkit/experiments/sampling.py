"""The machine's and the client's own health, sampled beside the whole run: the lab measures itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from labkit.core.clock import Clock
from labkit.store.runs import RunWriter
from labkit.telemetry.client_health import ClientHealth
from labkit.telemetry.host import HostSource
from labkit.telemetry.sampler import Sampler


@asynccontextmanager
async def sampled(writer: RunWriter, clock: Clock) -> AsyncIterator[None]:
    """Samples of host and client go into the run, once a second, while the block lasts."""
    async with ClientHealth() as client:
        sources = (HostSource(), client)
        async with Sampler(writer.id, sources, writer.samples, t0=writer.t0, clock=clock, on_event=writer.event):
            yield
