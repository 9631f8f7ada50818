"""A run over the nodes of a cluster, top to bottom: one folder here, whole repeats there.

Each node has a worker (`crew`) and takes repeats from the `board`; its lines come in as they are made and are appended
by the run's one writer. Before and after each repeat the node's clock is held against this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labkit.core.clock import Clock, SystemClock
from labkit.core.progress import OnProgress, silent
from labkit.core.records import Record
from labkit.experiments.before_start import check
from labkit.experiments.design import Design
from labkit.experiments.kept_recordings import keep_recordings, recordings_in
from labkit.experiments.runner import OnCreated
from labkit.experiments.spread.board import RETRIES
from labkit.experiments.spread.crew import Crew
from labkit.experiments.spread.engines import Recipe
from labkit.experiments.spread.node_remarks import differing, one_fingerprint
from labkit.experiments.spread.nodes import Node
from labkit.experiments.spread.spreading import Spreading
from labkit.experiments.spread.worker import ClockOf, system_clock
from labkit.experiments.spread.workers import Workers
from labkit.store.runs import Run, RunStore


async def run_spread(
    experiment: str,
    asked: Record,
    design: Design,
    recipe: Recipe,
    nodes: Sequence[Node],
    *,
    retries: int = RETRIES,
    store: RunStore | None = None,
    on_progress: OnProgress = silent,
    on_created: OnCreated = lambda _: None,
    clock: Clock | None = None,
    clock_of: ClockOf = system_clock,
    expected: Mapping[str, float] | None = None,
) -> Run:
    """Measure a design's repeats on these nodes, as `run_design` does on one machine; Ray is connected already.

    `recipe`: what serves on a node. `clock_of`: makes a node's clock. Raises LabError, before there is a folder, for a
    node that cannot serve. Cancelling marks the run `cancelled` and ends what it started on every node.
    """
    check(design)
    async with Crew(nodes, design, recipe, clock_of) as crew:
        return await run_with(
            crew,
            experiment,
            asked,
            design,
            retries=retries,
            store=store,
            on_progress=on_progress,
            on_created=on_created,
            clock=clock,
            expected=expected,
        )


async def run_with(
    workers: Workers,
    experiment: str,
    asked: Record,
    design: Design,
    *,
    retries: int = RETRIES,
    store: RunStore | None = None,
    on_progress: OnProgress = silent,
    on_created: OnCreated = lambda _: None,
    clock: Clock | None = None,
    expected: Mapping[str, float] | None = None,
) -> Run:
    """`run_spread` with workers that are there already."""
    clock = clock or SystemClock()
    store = store or RunStore(clock=clock)
    facts = await workers.facts()
    with store.create(experiment, asked.to_dict(), one_fingerprint(facts)) as writer:
        on_created(writer.folder)
        keep_recordings(writer, recordings_in(design))
        spread = Spreading(writer, clock, workers, design, list(facts), retries, on_progress, expected or {})
        await spread.through()
        spread.sum.total.remarks += differing(facts)
        writer.finish(*spread.verdict())
    return store.open(writer.id)
