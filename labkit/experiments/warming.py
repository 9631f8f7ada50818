"""Send what is thrown away before a block is measured, and keep its rows, marked: for replays and for live agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing

from labkit.core.clock import Clock
from labkit.engines.client import EngineClient
from labkit.experiments.meter import Meter
from labkit.experiments.rows import Place, rows_of
from labkit.experiments.serving import Served
from labkit.store.runs import RunWriter
from labkit.traffic.recording import Recording
from labkit.traffic.replay import ReplayOptions, replay
from labkit.traffic.salt import SaltPolicy


async def warm_up(
    requests: Recording,
    served: Served,
    client: EngineClient,
    *,
    place: Place,
    writer: RunWriter,
    clock: Clock,
    after_failure: Callable[[], Awaitable[None]],
) -> None:
    """One after the other. `after_failure`: looks whether the engine lives, and raises EngineDied when it does not."""
    meter = await Meter.started(served.metrics, clock)
    async with aclosing(replay(requests, client, ReplayOptions(), SaltPolicy(), clock=clock)) as steps:
        async for done in steps:
            rows = rows_of(place, done, await meter.lap())
            writer.step(rows.step, rows.chunks, rows.texts)
            if done.error:
                await after_failure()
