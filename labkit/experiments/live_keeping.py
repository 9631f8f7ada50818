"""How a live step becomes a row: with the engine's counters and the cache's ceiling for one agent, without for several.

Counters belong to a step when nothing else is in flight. What could have been cached is asked of the engine's tokenizer
between steps; with several agents it would be asked while others are measured, so that is done when the lap is over.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from labkit.core.chat import ChatRequest, Reply
from labkit.core.errors import RequestFailed
from labkit.experiments.ceilings import Ceiling, Shareable
from labkit.experiments.crowd import Lived, shareable
from labkit.experiments.live_board import Board
from labkit.experiments.live_holds import Station
from labkit.experiments.live_lap import Lap
from labkit.experiments.meter import Meter
from labkit.experiments.rows import Around, Place, Rows, rows_of
from labkit.experiments.seen import UNKNOWN, Seen, ServedBy
from labkit.traffic.replay import Replayed


class Keeping(Protocol):
    """Makes the rows of one agent in one lap. `paced`: what it does between two steps is lag of the next one."""

    paced: bool

    async def before(self, station: Station, condition: str) -> None:
        """A request is about to leave for this arm."""
        ...

    async def after(self, station: Station, request: ChatRequest, reply: Reply | None) -> None:
        """It has ended; None: it failed."""
        ...

    def rows(self, place: Place, done: Replayed, station: Station) -> Rows:
        """The rows of the step whose request has ended last."""
        ...

    async def end(self) -> None:
        """The agent is through, or was stopped."""
        ...


@dataclass(frozen=True)
class Exchanged:
    """A request and its reply, as a ceiling wants them."""

    request: ChatRequest
    reply: Reply | None


@dataclass
class Asking:
    """The tokenizer of whatever engine serves now. Raises RequestFailed when none does."""

    board: Board

    async def tokenize(self, request: ChatRequest) -> list[int]:
        """The prompt's token ids."""
        if self.board.station is None:
            raise RequestFailed("no engine is there to count tokens")
        return await self.board.station.client.tokenize(request)


@dataclass
class Alone:
    """One agent: counters are read around each step, over each stretch that one arm served, and of its own process.

    Of the ceiling, what another engine or another way of salting has computed is out of reach for this step.
    """

    board: Board
    lap: Lap
    recording: str
    paced: bool = False
    _meter: Meter | None = field(default=None, init=False)
    _stretch: tuple[Station, str] | None = field(default=None, init=False)
    _ceiling: Ceiling | None = field(default=None, init=False)
    _around: Around = field(default_factory=Around, init=False)
    _shareable: Shareable = field(default_factory=Shareable, init=False)

    async def before(self, station: Station, condition: str) -> None:
        """Begin a new stretch when another arm serves now."""
        if self._stretch != (station, condition):
            await self.end()
            self._stretch = (station, condition)
            self._meter = await Meter.started(station.served.metrics, self.board.clock)

    async def after(self, station: Station, request: ChatRequest, reply: Reply | None) -> None:
        """Read the counters, then ask what could have been cached."""
        meter = self._meter
        self._around = await meter.lap() if meter else Around()
        if self._ceiling is None:
            size = station.served.block_size
            self._ceiling = Ceiling(Asking(self.board), Seen(size) if size else None)
        by = _of_station(meter.by if meter else UNKNOWN, station)
        self._shareable = await self._ceiling.of(Exchanged(request, reply), by)

    def rows(self, place: Place, done: Replayed, station: Station) -> Rows:
        """With what the counters say of the step, and what could have been cached."""
        return rows_of(place, done, self._around, self._shareable)

    async def end(self) -> None:
        """Keep what the counters grew by over the stretch."""
        if self._meter is None or self._stretch is None:
            return
        (station, condition), total = self._stretch, self._meter.total()
        about = {"arm": station.arm.label, "repeat": self.lap.repeat, "recording": self.recording}
        about["engine"] = station.engine
        self.board.writer.event("counters", **about, condition=condition, cache="cold", **total)
        self._meter = self._stretch = None


@dataclass
class Among:
    """One of several agents: a step's row has what its own reply says, and no more."""

    lived: list[tuple[str, str, Replayed]] = field(default_factory=list)
    """Arm, condition and step, of all that was sent."""
    paced: bool = True

    async def before(self, station: Station, condition: str) -> None:
        """Nothing: others are in flight."""

    async def after(self, station: Station, request: ChatRequest, reply: Reply | None) -> None:
        """Nothing: others are in flight."""

    def rows(self, place: Place, done: Replayed, station: Station) -> Rows:
        """With the reply's own numbers; of a split engine it tells decode's side only, which is not the step's."""
        self.lived.append((place.arm, place.condition, done))
        rows = rows_of(place, done, Around())
        if "decode" not in station.served.metrics:
            return rows
        return dataclasses.replace(rows, step=dataclasses.replace(rows.step, queue_s=None, prefill_s=None))

    async def end(self) -> None:
        """Nothing was begun."""


async def tell_ceilings(board: Board, lap: Lap, agents: Sequence[Among]) -> None:
    """What an infinite cache could have served of the lap, for each arm that served in it: a `ceiling` event each."""
    if board.station is None:
        return
    size = board.station.served.block_size
    for arm, condition in dict.fromkeys((arm, condition) for each in agents for arm, condition, _ in each.lived):
        lives = [[Lived(done, (a, c) == (arm, condition)) for a, c, done in each.lived] for each in agents]
        found = await shareable(lives, Asking(board), size)
        board.writer.event("ceiling", arm=arm, repeat=lap.repeat, condition=condition, **found)


def _of_station(by: ServedBy, station: Station) -> ServedBy:
    """Who served, told apart by engine and by how it was salted: what is cached under one is no hit under another."""
    names = (
        f"{station.engine}/{station.served.switched_by}/{role}" if role else None for role in (by.prompt, by.reply)
    )
    return ServedBy(*names)
