"""What runs on a node: it measures the repeats that it is given, near the node's engines, and says what it found.

A plain class that Ray makes an actor of. Everything that it yields is a batch of lines of the run, in order; the last
line says how the repeat ended. Engines of a repeat are ended with it: what is at rest before the next one is at rest.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import EngineBusy, LabError
from labkit.experiments.before_start import fingerprint_of
from labkit.experiments.block import measure
from labkit.experiments.design import Design
from labkit.experiments.forecast import Forecast
from labkit.experiments.reporter import Reporter
from labkit.experiments.runner import starts
from labkit.experiments.sampling import sampled
from labkit.experiments.session import Session
from labkit.experiments.spread.engines import NamedProvider, Recipe
from labkit.experiments.spread.relayed import Line, RelayWriter
from labkit.experiments.spread.units import only
from labkit.experiments.verdict import Tally

ENDED = "ended"
"""Type of the last line: its `tally` (Tally) is that of the repeat, its `error` why it stopped, or None. No event."""
LOG = "log"
"""Type of a line with `name` and `text` of an engine's log. No event."""
_LOG_BYTES = 2**20


@dataclass(frozen=True, kw_only=True)
class Order:
    """A repeat to measure. `t0`: the node's clock at the run's start, in seconds; `expected`: as in `run_design`."""

    run: str
    numbers: tuple[int, ...]
    t0: float
    expected: Mapping[str, float] = field(default_factory=dict)


ClockOf = Callable[[str], Clock]
"""Given a node's name, called on it: its clock."""


def system_clock(node: str) -> Clock:
    """Every node's own."""
    return SystemClock()


class Worker:
    """One node's. `recipe`, `clock_of`: what serves there, and its clock."""

    def __init__(self, node: str, design: Design, recipe: Recipe, clock_of: ClockOf = system_clock) -> None:
        self._node, self._design = node, design
        self._recipe, self._clock = recipe, clock_of(node)
        self._provider: NamedProvider | None = None
        self._refused: dict[str, str] = {}
        self._task: asyncio.Task[None] | None = None

    async def now(self) -> float:
        """The node's clock, s."""
        return self._clock.now()

    async def facts(self) -> dict[str, Any]:
        """`fingerprint`: of this node; or `error`, `hint`: why it cannot serve."""
        try:
            return {"fingerprint": fingerprint_of(self._design, self._serving())}
        except LabError as error:
            return {"error": error.message, "hint": error.hint}

    def _serving(self) -> NamedProvider:
        self._provider = self._provider or NamedProvider(self._node, self._recipe(self._node))
        return self._provider

    async def measure(self, order: Order) -> AsyncGenerator[list[Line], None]:
        """The repeat's lines as they come, in batches. Ends with an ENDED line unless it is stopped."""
        lines: asyncio.Queue[Line] = asyncio.Queue()
        with tempfile.TemporaryDirectory(prefix="labkit-node-") as folder:
            writer = RelayWriter(self._node, order.run, Path(folder), self._clock, order.t0, lines.put_nowait)
            self._task = asyncio.create_task(self._whole(writer, order, lines.put_nowait))
            try:
                ended = False
                while not ended:
                    batch = [await lines.get(), *_at_hand(lines)]
                    ended = batch[-1]["type"] == ENDED
                    yield batch
            finally:
                await self.stop()

    async def stop(self) -> None:
        """Break off what is measured, and end the engines that this run started here."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _whole(self, writer: RelayWriter, order: Order, send: Callable[[Line], None]) -> None:
        """The repeat, its logs, and how it ended."""
        tally, error = Tally(refused=dict(self._refused)), None
        try:
            await self._measured(writer, order, tally)
        except LabError as raised:
            error = {"message": raised.message, "hint": raised.hint, "busy": isinstance(raised, EngineBusy)}
        finally:
            self._refused |= tally.refused
            for log in sorted(writer.log_dir.rglob("*.log")):
                send({"type": LOG, "name": str(log.relative_to(writer.log_dir)), "text": _end_of(log)})
            send({"type": ENDED, "tally": tally, "error": error})

    async def _measured(self, writer: RelayWriter, order: Order, tally: Tally) -> None:
        session = self._session(writer, order, tally)
        async with sampled(writer, self._clock):
            try:
                for number in order.numbers:
                    await measure(session, number)
            finally:
                writer.event("closed", engines_left_up=await session.provider.close(keep=False))

    def _session(self, writer: RelayWriter, order: Order, tally: Tally) -> Session:
        design, provider = only(self._design, order.numbers), self._serving()
        left: dict[str, int] = {}
        for number in order.numbers:
            label = design.blocks[number].label
            left[label] = left.get(label, 0) + design.count(number)
        forecast = Forecast(left, starts(design, provider), order.expected)
        reporter = Reporter(writer, forecast, sum(left.values()))
        return Session(writer, design, provider, reporter, self._clock, tally)


def _at_hand(lines: asyncio.Queue[Line]) -> list[Line]:
    """What else waits now."""
    found = []
    while not lines.empty():
        found.append(lines.get_nowait())
    return found


def _end_of(log: Path) -> str:
    """A log's text, its last MiB where it is longer."""
    content = log.read_bytes()[-_LOG_BYTES:]
    return content.decode("utf-8", errors="replace")
