"""The switchboard of a live run: each step asks it which arm serves now, and a wish changes its answer.

Between engines that are up the next step goes to the other one. While an engine has to be started or warmed up, the
gate is closed: what is in flight ends, nobody sends, so that no step is measured beside a start.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from labkit.core.arms import Arm
from labkit.core.clock import Clock
from labkit.core.errors import EngineDied, EngineError, LabError
from labkit.experiments.alive import check_alive
from labkit.experiments.first_counters import first_counters
from labkit.experiments.lament import CannotServe, message_of, words_of
from labkit.experiments.live_holds import Holds, Station
from labkit.experiments.live_lap import Lap
from labkit.experiments.live_telling import Telling
from labkit.experiments.serving import EngineProvider, Served
from labkit.store.runs import RunWriter

WarmUp = Callable[[Station], Awaitable[None]]
_USED = 3
"""An engine that has answered more requests than this has been warmed up by somebody; the fleet's proof is one."""


@dataclass
class Board:
    """Who serves now, and what happened on the way. Mutable; `lost`: arm to why it cannot be had (any more)."""

    writer: RunWriter
    provider: EngineProvider
    clock: Clock
    telling: Telling
    warm_up: WarmUp
    spec_method: str | None = None
    repeat: int = 0
    station: Station | None = None
    steered: Arm | None = None
    """What was wished for last, of what could be had."""
    ended: EngineError | None = None
    lost: dict[str, str] = field(default_factory=dict)
    died: set[str] = field(default_factory=set)
    beside: dict[str, set[str]] = field(default_factory=dict)
    """Arm to the engines that stood by idle while it served."""
    holds: Holds = field(init=False)
    _last: Arm | None = field(default=None, init=False)
    """What served last, also when its engine has had to make room: it is started again when nothing else can be had."""
    _before: list[Station] = field(default_factory=list, init=False)
    _used: set[str] = field(default_factory=set, init=False)
    _flying: int = field(default=0, init=False)
    _shut: float = field(default=0.0, init=False)
    _turning: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _gate: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _quiet: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def __post_init__(self) -> None:
        self.holds = Holds(self.provider, self.writer, self.clock)
        self._quiet.set()
        self._shut = self.clock.now()

    @asynccontextmanager
    async def sending(self) -> AsyncIterator[Station]:
        """Who serves this step, once somebody does. Raises EngineError when nobody will any more."""
        while not self._gate.is_set():  # it may have been shut again before this agent had its turn
            await self._gate.wait()
        if self.station is None:
            raise self.ended or EngineDied("no engine serves this run any more")
        self._flying += 1
        self._quiet.clear()
        try:
            yield self.station
        finally:
            self._flying -= 1
            if not self._flying:
                self._quiet.set()

    async def begin(self, choose: Callable[[], Lap | None]) -> tuple[Lap, bool] | None:
        """Serve the arm of the lap that is chosen, and whether it can be had; None: there is no lap left.

        It is chosen when no wish is under way, so that a lap never undoes one.
        """
        async with self._turning:
            lap = choose()
            if lap is None:
                return None
            self.repeat = lap.repeat
            return lap, await self._turn_to(lap.arm, wished=False)

    async def wish(self, arm: Arm) -> None:
        """Serve this arm from the next step on, and in the laps that follow, when it can be had."""
        async with self._turning:
            if await self._turn_to(arm, wished=True):
                self.steered = arm
                self.telling.say(f"measuring {arm.label}")  # nothing is being started any more

    async def _turn_to(self, arm: Arm, *, wished: bool) -> bool:
        """Whether the arm serves now. When it cannot, its engine's words are kept and the arm before goes on, started
        again where it had to make room."""
        before = self._last
        if self.station and before == arm:
            return True
        try:
            await self._turn(arm, before, wished)
        except (LabError, OSError) as error:
            self._lament("refused", arm, error)
            if before and self.station is None:
                await (self._fall_back(error) if before == arm else self._restore(before))
            return False
        finally:
            self._open()
        return True

    async def failed(self, station: Station) -> None:
        """A request to it has failed: when its engine has died, go on under the arm before, if that one lives."""
        try:
            await check_alive(self.provider, station.served)
        except EngineDied as error:
            async with self._turning:
                if station.engine not in self.died:
                    await self._lose(station, error)

    async def close(self) -> None:
        """Let go of every engine."""
        await self.holds.close()

    async def _turn(self, arm: Arm, before: Arm | None, wished: bool) -> None:
        began, was = self.clock.now(), before.label if before else ""
        cold = self.provider.starts([arm], [self.spec_method])[0] > 0
        if cold:
            await self._stop_sending(f"starting {arm.label}")
        served = await self.provider.serve(arm, self.telling.starting, self.spec_method)
        station = await self.holds.station(arm, served)
        first = await first_counters(served.metrics, self.clock)
        self._tell(served, arm, first)
        warmed = served.engine not in self._used and await self._first_use(station, first, wished)
        self.lost.pop(arm.label, None)
        self._before = [*(each for each in self._before if each.arm != arm), station]
        self.station, self._last = station, arm
        waited = round(self.clock.now() - began, 3)
        self.writer.event("switch", arm=arm.label, was=was, waited_s=waited, warm=not cold, warmed=warmed)

    async def _restore(self, arm: Arm) -> None:
        """After a refusal: the arm before had to make room for the one that was refused; start it again."""
        try:
            await self._turn(arm, None, wished=True)
            self.telling.say(f"measuring {arm.label}")
        except (LabError, OSError) as error:
            self._lament("refused", arm, error)
            await self._fall_back(error)

    async def leave(self, engine: str) -> None:
        """This engine is about to be ended for its memory."""
        self._before = [each for each in self._before if each.engine != engine]
        self._used.discard(engine)
        if self.station and self.station.engine == engine:
            self.station = None
        await self.holds.release(engine)

    async def _first_use(self, station: Station, first: dict[str, dict[str, float | None]], wished: bool) -> bool:
        """Warm it up, unless a toggle leads to an engine that has been at work before this run. Whether it was."""
        served_before = max((page.get("requests") or 0.0 for page in first.values()), default=0.0)
        if needed := not (wished and served_before > _USED):
            await self._stop_sending(f"warming up {station.arm.label}")
            await self.warm_up(station)
        self._used.add(station.engine)
        return needed

    async def _stop_sending(self, stage: str) -> None:
        if self._gate.is_set():
            self._gate.clear()
            self._shut = self.clock.now()
        many = "1 request" if self._flying == 1 else f"{self._flying} requests"
        self.telling.say(stage, f"waiting for {many} to end" if self._flying else "")
        await self._quiet.wait()

    def _open(self) -> None:
        """Let agents send again, if there is somebody to send to or nobody will come."""
        if self._gate.is_set() or not (self.station or self.ended):
            return
        self.telling.idle_s += self.clock.now() - self._shut
        self.telling.start_left_s = 0.0
        self._gate.set()

    def _tell(self, served: Served, arm: Arm, first: dict[str, Any]) -> None:
        about = {"arm": arm.label, "label": arm.label, "repeat": self.repeat}
        served.tell(self.writer, **about)
        self.writer.event("first_counters", **about, engine=served.engine, processes=first)
        if served.neighbours:
            self.beside.setdefault(arm.label, set()).update(served.neighbours)

    async def _lose(self, station: Station, error: EngineDied) -> None:
        """The engine is gone, and every arm that it served with it; the one that was last before them goes on."""
        self.died.add(station.engine)
        gone = {each.arm.label for each in (*self._before, station) if each.engine == station.engine}
        self.lost |= dict.fromkeys(gone, message_of(error))
        if self.steered and self.steered.label in gone:
            self.steered = None
        self._lament("engine_died", station.arm, error)
        if self.station and self.station.engine == station.engine:
            self._gate.clear()
            self._shut = self.clock.now()
        await self.leave(station.engine)
        await self._fall_back(error)
        self._open()

    async def _fall_back(self, error: CannotServe) -> None:
        """Go on under the arm that was last before, if its engine still lives; else nobody serves any more."""
        while self._before and self.station is None:
            await self._go_back(self._before[-1])
        if self.station is None:
            self._last = None
            self.ended = error if isinstance(error, EngineError) else EngineError(message_of(error))

    async def _go_back(self, station: Station) -> None:
        try:
            self.provider.check(station.served)
            await self._turn(station.arm, None, wished=True)
        except (LabError, OSError):
            self._before = [each for each in self._before if each is not station]

    def _lament(self, kind: str, arm: Arm, error: CannotServe) -> None:
        words = words_of(error)
        self.lost[arm.label] = words["message"]
        self.writer.event(kind, arm=arm.label, label=arm.label, repeat=self.repeat, **words)
        self.telling.say(f"{arm.label} {kind.replace('_', ' ')}", words["message"])
