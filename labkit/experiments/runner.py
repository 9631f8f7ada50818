"""One run: every block in its order, on one clock, into one folder. It reads top to bottom; the parts are next door.

design orders the blocks, serving has the engines, block measures, verdict says how it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from labkit.core.clock import Clock, SystemClock
from labkit.core.progress import OnProgress, silent
from labkit.core.records import Record
from labkit.experiments.asked import Asked
from labkit.experiments.block import measure
from labkit.experiments.design import Block, Design, Pass
from labkit.experiments.forecast import Forecast
from labkit.experiments.reporter import Reporter
from labkit.experiments.sampling import sampled
from labkit.experiments.serving import EngineProvider
from labkit.experiments.session import Session
from labkit.experiments.verdict import verdict
from labkit.store.fingerprint import host_fingerprint
from labkit.store.runs import Run, RunStore, RunWriter
from labkit.traffic.recording import named
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
    passes = (Pass(recording=named(asked.recording), options=asked.options()),)
    design = Design(tuple(asked.blocks()), lambda _: passes)
    return await run_design(
        experiment,
        asked,
        design,
        provider,
        keep=asked.keep,
        store=store,
        on_progress=on_progress,
        on_created=on_created,
        clock=clock,
    )


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
) -> Run:
    """Measure a design's blocks in their order, as `run_replay` does. `asked`: what `run.json` keeps of the question.

    `keep`: leave the last engine up when all went well.
    """
    _check(design)
    clock = clock or SystemClock()
    store = store or RunStore(clock=clock)
    fingerprint = {**host_fingerprint(), **provider.fingerprint([block.arm for block in design.blocks])}
    with store.create(experiment, asked.to_dict(), fingerprint) as writer:
        on_created(writer.folder)
        session = _session(writer, design, provider, on_progress, clock)
        async with sampled(writer, clock):
            await _through(session, design.blocks, keep)
        labels = list(dict.fromkeys(block.label for block in design.blocks))
        writer.finish(*verdict(labels, session.tally))
    return store.open(writer.id)


def _check(design: Design) -> None:
    """Raises BadInput for a pass that cannot be sent as asked."""
    for block in design.blocks:
        for each in design.passes(block):
            if each.options.mode == "pinned":
                check_pinnable(each.recording, each.options.count(each.recording))


def _session(
    writer: RunWriter, design: Design, provider: EngineProvider, on_progress: OnProgress, clock: Clock
) -> Session:
    left = {block.label: 0 for block in design.blocks}
    for block in design.blocks:
        left[block.label] += design.count(block)
    arms, methods = [block.arm for block in design.blocks], [block.spec_method for block in design.blocks]
    reporter = Reporter(writer, Forecast(left, provider.starts(arms, methods)), sum(left.values()), on_progress)
    return Session(writer, design, provider, reporter, clock)


async def _through(session: Session, order: Sequence[Block], keep: bool) -> None:
    """All blocks; then the engines of this run are ended, all of them unless it went well and they are to be kept."""
    went_well = False
    try:
        for number, block in enumerate(order):
            await measure(session, block, number)
        went_well = True
    finally:
        left_up = await session.provider.close(keep=keep and went_well)
        session.writer.event("closed", engines_left_up=left_up)
