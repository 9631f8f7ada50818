"""A live run: laps of agents at once, under arms that are changed while it goes on. It reads top to bottom.

live_lap says which lap comes next, live_board who serves, live_line and live_crew what an agent does, live_keeping what
becomes of a step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from labkit.core.clock import Clock, SystemClock
from labkit.core.progress import OnProgress, silent
from labkit.experiments.before_start import asked_and_attached, host_of
from labkit.experiments.live_asked import LiveAsked
from labkit.experiments.live_laps import Live, through
from labkit.experiments.live_remarks import live_remarks, live_verdict
from labkit.experiments.live_setup import live_of, source_of
from labkit.experiments.remarks import remarks
from labkit.experiments.sampling import sampled
from labkit.experiments.serving import EngineProvider
from labkit.experiments.steering import NextWish, Wishes
from labkit.store.runs import Run, RunStore, RunWriter
from labkit.traffic.recording import Recording, sha256

_STOPPED = "stopped by the user"


async def run_laps(
    asked: LiveAsked,
    provider: EngineProvider,
    *,
    store: RunStore | None = None,
    on_progress: OnProgress = silent,
    on_created: Callable[[Path], None] = lambda _: None,
    clock: Clock | None = None,
    wishes: NextWish | None = None,
) -> Run:
    """Run the laps that are asked for, steered meanwhile, and return the run that they became.

    `wishes`: called every 0.1 s for an arm to turn to; None: the wishes of the job. Raises BadInput, UnknownName and
    WeightsError before there is a run. Cancelling marks the run `cancelled` and keeps what it has.
    """
    clock, source = clock or SystemClock(), source_of(asked.checked())
    store = store or RunStore(clock=clock)
    sent = {"recordings": {source.header.name: sha256(source)}} if isinstance(source, Recording) else {}
    fingerprint = {**host_of(provider), **provider.fingerprint(asked.planned), **sent}
    with store.create("live", asked_and_attached(asked, provider), fingerprint) as writer:
        on_created(writer.folder)
        live = live_of(asked, source, provider, writer, clock, on_progress, wishes or Wishes(asked.job))
        await _to_its_end(live, writer, clock)
    return store.open(writer.id)


async def _to_its_end(live: Live, writer: RunWriter, clock: Clock) -> None:
    try:
        async with sampled(writer, clock):
            await through(live)
    except asyncio.CancelledError:
        writer.finish("cancelled", "\n".join(f"{said}." for said in (_STOPPED, *live_remarks(live.book))))
        raise
    writer.finish(*live_verdict(live.asked, live.book, [*live_remarks(live.book), *remarks(Run(writer.folder))]))
