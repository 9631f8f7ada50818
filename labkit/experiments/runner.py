"""One run: every block in its order, on one clock, into one folder. It reads top to bottom; the parts are next door.

design orders the blocks, serving has the engines, block measures, verdict says how it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from labkit.core.clock import Clock, SystemClock
from labkit.core.progress import OnProgress, silent
from labkit.experiments.asked import Asked
from labkit.experiments.block import measure
from labkit.experiments.design import Block
from labkit.experiments.forecast import Forecast
from labkit.experiments.reporter import Reporter
from labkit.experiments.sampling import sampled
from labkit.experiments.serving import EngineProvider
from labkit.experiments.session import Session
from labkit.experiments.verdict import verdict
from labkit.store.fingerprint import host_fingerprint
from labkit.store.runs import Run, RunStore, RunWriter
from labkit.traffic.recording import Recording, named
from labkit.traffic.shaping import check_pinnable

OnCreated = Callable[[Path], None]


async def run_replay(
    experiment: str,
    asked: Asked,
    provider: EngineProvider,
    *,
    store: RunStore | None = None,
    on_progress: OnProgress = silent,
    on_created: OnCreated = lambda _: None,
    clock: Clock | None = None,
) -> Run:
    """Replay a recording under every arm that is asked for, and return the run that it became.

    `on_created` is told the run's folder as soon as there is one. Raises BadInput, UnknownName
    and WeightsError before there is one.
    Cancelling marks the run `cancelled`. Engines that the run started are ended, however it ends.
    """
    recording, order, clock = _checked(asked), asked.blocks(), clock or SystemClock()
    store = store or RunStore(clock=clock)
    fingerprint = {**host_fingerprint(), **provider.fingerprint([block.arm for block in order])}
    with store.create(experiment, asked.to_dict(), fingerprint) as writer:
        on_created(writer.folder)
        session = _session(writer, asked, recording, provider, order, on_progress, clock)
        async with sampled(writer, clock):
            await _through(session, order)
        writer.finish(*verdict(asked.arms, session.tally))
    return store.open(writer.id)


def _checked(asked: Asked) -> Recording:
    """The recording, once everything about the question that can be wrong was looked at."""
    recording, options = named(asked.recording), asked.options()
    if options.mode == "pinned":
        check_pinnable(recording, options.count(recording))
    return recording


def _session(
    writer: RunWriter,
    asked: Asked,
    recording: Recording,
    provider: EngineProvider,
    order: Sequence[Block],
    on_progress: OnProgress,
    clock: Clock,
) -> Session:
    options = asked.options()
    steps = options.count(recording)
    left = {block.arm.label: 0 for block in order}
    for block in order:
        left[block.arm.label] += steps
    starts = provider.starts([block.arm for block in order])
    reporter = Reporter(writer, Forecast(left, starts), steps * len(order), on_progress)
    return Session(writer, asked, recording, options, provider, reporter, clock)


async def _through(session: Session, order: Sequence[Block]) -> None:
    """All blocks; then the engines of this run are ended, all of them unless it went well and they are to be kept."""
    keep = False
    try:
        for number, block in enumerate(order):
            await measure(session, block, number)
        keep = session.asked.keep
    finally:
        left_up = await session.provider.close(keep=keep)
        session.writer.event("closed", engines_left_up=left_up)
