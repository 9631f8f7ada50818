"""The middle of a spread run: every node works through its repeats, and what it sends is taken in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

from labkit.core.clock import Clock
from labkit.core.errors import EngineBusy, LabError
from labkit.core.progress import OnProgress
from labkit.core.records import RunState
from labkit.experiments.design import Design
from labkit.experiments.remarks import remarks
from labkit.experiments.spread.board import Board
from labkit.experiments.spread.intake import Intake
from labkit.experiments.spread.node_remarks import slow_clients, uneven, who_measured
from labkit.experiments.spread.offset import Offset
from labkit.experiments.spread.tallied import Sum
from labkit.experiments.spread.telling import Telling
from labkit.experiments.spread.units import Unit, units
from labkit.experiments.spread.worker import Order
from labkit.experiments.spread.workers import NodeLost, Workers
from labkit.experiments.verdict import verdict
from labkit.store.runs import Run, RunWriter


@dataclass
class Spreading:
    """One run's state. `nodes`: by name. Mutable; `through` fills it."""

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
