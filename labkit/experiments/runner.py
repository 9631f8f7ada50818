"""One run: every block in its order, on one clock, into one folder. It reads top to bottom; the parts are next door.

design orders the blocks, serving has the engines, block measures, verdict says how it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from labkit.core.clock import Clock, SystemClock
from labkit.core.progress import OnProgress, silent
from labkit.core.records import Record
from labkit.experiments.asked import Asked
from labkit.experiments.before_start import asked_and_attached, check, fingerprint_of
from labkit.experiments.block import measure
from labkit.experiments.design import Design, Pass
from labkit.experiments.forecast import Forecast
from labkit.experiments.kept_recordings import keep_recordings, recordings_in
from labkit.experiments.remarks import remarks
from labkit.experiments.reporter import Reporter
from labkit.experiments.sampling import sampled
from labkit.experiments.serving import EngineProvider
from labkit.experiments.session import Session
from labkit.experiments.verdict import Tally, verdict
from labkit.store.runs import Run, RunStore, RunWriter
from labkit.traffic.recording import named

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
    return await run_design(
        experiment,
        asked,
        replay_design(asked),
        provider,
        keep=asked.keep,
        store=store,
        on_progress=on_progress,
        on_created=on_created,
        clock=clock,
    )


def replay_design(asked: Asked) -> Design:
    """One recording, once in every block. Raises BadInput and UnknownName."""
    passes = (Pass(recording=named(asked.recording), options=asked.options()),)
    return Design(tuple(asked.blocks()), lambda _: passes, fresh_starts=asked.seed is not None)


async def run_design(
    experiment: str,
    asked: Record,
    design: Design,
    provider: EngineProvider,
    *,
    keep: bool = False,
    store: RunStore | None = None,
    on_progress: OnProgress = silent,
    on_created: OnCreated = lambda _: None,
    clock: Clock | None = None,
    expected: Mapping[str, float] | None = None,
) -> Run:
    """Measure a design's blocks in their order, as `run_replay` does. `asked`: what `run.json` keeps of the question.

    `keep`: leave the last engine up when all went well. `expected`: seconds of a step by arm, for the time left.
    """
    check(design)
    clock = clock or SystemClock()
    store = store or RunStore(clock=clock)
    with store.create(experiment, asked_and_attached(asked, provider), fingerprint_of(design, provider)) as writer:
        on_created(writer.folder)
        await conduct(writer, design, provider, keep=keep, on_progress=on_progress, clock=clock, expected=expected)
    return store.open(writer.id)


async def conduct(
    writer: RunWriter,
    design: Design,
    provider: EngineProvider,
    *,
    keep: bool,
    on_progress: OnProgress,
    clock: Clock,
    tally: Tally | None = None,
    expected: Mapping[str, float] | None = None,
) -> None:
    """Measure what is left of a design, and end the run. `tally`: what an earlier part of it has measured."""
    session = _session(writer, design, provider, on_progress, clock, expected or {})
    session.tally = tally or session.tally
    keep_recordings(writer, recordings_in(design))
    async with sampled(writer, clock):
        await _through(session, keep)
    session.tally.remarks += remarks(Run(writer.folder))
    writer.finish(*verdict(design.labels, session.tally))


def _session(
    writer: RunWriter,
    design: Design,
    provider: EngineProvider,
    on_progress: OnProgress,
    clock: Clock,
    expected: Mapping[str, float],
) -> Session:
    left, total = dict.fromkeys(design.labels, 0), design.total
    for number, block in enumerate(design.blocks):
        left[block.label] += design.count(number)
    forecast = Forecast(left, starts(design, provider), expected)
    reporter = Reporter(writer, forecast, total, on_progress, done=total - sum(left.values()))
    return Session(writer, design, provider, reporter, clock)


def starts(design: Design, provider: EngineProvider) -> list[float]:
    """For each block of the design, seconds of the engine start before it; 0 where nothing of the block is left."""
    numbers = [number for number in range(len(design.blocks)) if design.left(number)]
    blocks = [design.blocks[number] for number in numbers]
    arms, methods = [block.arm for block in blocks], [block.spec_method for block in blocks]
    seconds = provider.starts(arms, methods, fresh=design.fresh_starts)
    by_number = dict(zip(numbers, seconds, strict=True))
    return [by_number.get(number, 0.0) for number in range(len(design.blocks))]


async def _through(session: Session, keep: bool) -> None:
    """All blocks; then the engines of this run are ended, all of them unless it went well and they are to be kept."""
    went_well = False
    try:
        for number in range(len(session.design.blocks)):
            if session.design.left(number):
                await measure(session, number)
        went_well = True
    finally:
        left_up = await session.provider.close(keep=keep and went_well)
        session.writer.event("closed", engines_left_up=left_up)
