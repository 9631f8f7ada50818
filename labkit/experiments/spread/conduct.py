"""A run over the nodes of a cluster, top to bottom: one folder here, whole repeats there.

Each node has a worker (`crew`) and takes repeats from the `board`; its lines come in as they are made and are appended
by the run's one writer. Before and after each repeat the node's clock is held against this one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import EngineBusy, LabError
from labkit.core.progress import OnProgress, silent
from labkit.core.records import Record, RunState
from labkit.experiments.before_start import check
from labkit.experiments.design import Design
from labkit.experiments.kept_recordings import keep_recordings, recordings_in
from labkit.experiments.remarks import remarks
from labkit.experiments.runner import OnCreated
from labkit.experiments.spread.board import RETRIES, Board
from labkit.experiments.spread.cluster import Node
from labkit.experiments.spread.crew import Crew
from labkit.experiments.spread.engines import Recipe
from labkit.experiments.spread.intake import Intake
from labkit.experiments.spread.node_remarks import differing, one_fingerprint, slow_clients, uneven, who_measured
from labkit.experiments.spread.offset import Offset
from labkit.experiments.spread.tallied import Sum
from labkit.experiments.spread.telling import Telling
from labkit.experiments.spread.units import Unit, units
from labkit.experiments.spread.worker import ClockOf, Order, system_clock
from labkit.experiments.spread.workers import NodeLost, Workers
from labkit.experiments.verdict import verdict
from labkit.store.runs import Run, RunStore, RunWriter


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
        spread = _Spread(writer, clock, workers, design, list(facts), retries, on_progress, expected or {})
        await spread.through()
        spread.sum.total.remarks += differing(facts)
        writer.finish(*spread.verdict())
    return store.open(writer.id)


@dataclass
class _Spread:
    """One run's state."""

    writer: RunWriter
    clock: Clock
    crew: Workers
    design: Design
    nodes: list[str]
    retries: int
    on_progress: OnProgress
    expected: Mapping[str, float]
    sum: Sum = field(default_factory=Sum)

    def __post_init__(self) -> None:
        self.units = units(self.design)
        self.board = Board(self.units, self.nodes, self.retries)
        self.telling = Telling(self.writer, self.design, self.units, self.on_progress)

    async def through(self) -> None:
        """All repeats. Raises the first LabError of a node, once the others have stopped."""
        try:
            async with asyncio.TaskGroup() as group:
                for node in self.nodes:
                    group.create_task(self._node(node))
        except* LabError as several:
            raised = next(error for error in several.exceptions if isinstance(error, LabError))
            raise raised from None

    async def _node(self, node: str) -> None:
        """One node's repeats, until there are none left or it is lost."""
        while unit := await self.board.take(node):
            began = self.writer.now()
            try:
                await self._measure(node, unit)
            except NodeLost as lost:
                self._void(node, unit, began, lost)
                self.crew.kill(node)
                return await self.board.lost(node, unit, lost.message)
            await self.board.finished(node, unit)
            self.telling.idle(node)
        return None

    async def _measure(self, node: str, unit: Unit) -> None:
        self.telling.began(node, unit)
        before = await self._clocked(node, unit, "before")
        order = Order(
            run=self.writer.id,
            numbers=unit.numbers,
            t0=self.writer.t0 + before.offset_s,
            expected=self.expected,
        )
        intake = Intake(self.writer, node, unit, self.telling)
        async with aclosing(self.crew.measured(node, order)) as lines:
            async for line in lines:
                intake.take(line)
        if intake.tally is None:
            raise NodeLost(f"{node} stopped without saying how {unit.named} ended")
        if intake.error:
            kind = EngineBusy if intake.error["busy"] else LabError
            raise kind(f"{node}: {intake.error['message']}", intake.error["hint"])
        after = await self._clocked(node, unit, "after")
        self.sum.add(node, unit, intake.tally)
        if moved := before.drift_to(after):
            said = f"the clock of {node} moved {1000 * moved:.1f} ms against the run's during {unit.named}"
            self.sum.total.remarks.append(said)

    async def _clocked(self, node: str, unit: Unit, when: str) -> Offset:
        found = await self.crew.offset(node, self.clock)
        about = {"node": node, "repeat": unit.repeat, "when": when}
        self.writer.event("node_clock", **about, offset_s=found.offset_s, uncertainty_s=found.uncertainty_s)
        return found

    def _void(self, node: str, unit: Unit, began: float, lost: NodeLost) -> None:
        """What a lost node had sent of this repeat stays, is marked, and pairs with nothing."""
        arms = dict.fromkeys(self.design.blocks[number].arm.label for number in unit.numbers)
        for arm in arms:
            self.writer.void(arm, began, self.writer.now(), node=node, repeat=unit.repeat, why=lost.message)
        self.writer.event("node_lost", node=node, repeat=unit.repeat, message=lost.message)
        self.sum.total.remarks.append(f"{lost.message} during {unit.named}: what it had sent of it does not count")
        self.telling.idle(node, "lost")

    def verdict(self) -> tuple[RunState, str]:
        """State and note."""
        self.sum.given_up(self.board.given_up)
        run = Run(self.writer.folder)
        said = [who_measured(self.board.done, self.units), *uneven(self.board.done, run.steps())]
        total = self.sum.total
        total.remarks += [*filter(None, said), *remarks(run), *slow_clients(run, self.nodes)]
        return verdict(self.design.labels, total)
