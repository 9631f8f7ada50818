"""Lap after lap, and beside them the ear for wishes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from labkit.core.errors import EngineError, LabError
from labkit.experiments.live_asked import LiveAsked
from labkit.experiments.live_board import Board
from labkit.experiments.live_bystanders import bystanders
from labkit.experiments.live_crew import Book, Work
from labkit.experiments.live_keeping import Alone, Among, tell_ceilings
from labkit.experiments.live_lap import Lap, Laps
from labkit.experiments.meter import Meter
from labkit.experiments.steering import EVERY_S, NextWish


@dataclass
class Live:
    """A live run. Mutable: its parts are."""

    asked: LiveAsked
    board: Board
    book: Book
    work: Work
    laps: Laps
    wishes: NextWish

    def left(self, begins: bool) -> int | None:
        """Steps that are still to come at most, those of the lap that begins included; None: without end."""
        laps = self.laps.left
        return None if laps is None else (laps + begins) * self.asked.agents * self.work.steps


async def through(live: Live) -> None:
    """All laps; then the engines of this run are ended, all but the last when all went well and it is to be kept."""
    steering, went_well = asyncio.create_task(_steered(live)), False
    try:
        await _laps(live)
        went_well = live.board.ended is None
    finally:
        try:
            await _stopped(steering)
        finally:
            await _put_away(live.board, keep=live.asked.keep and went_well)


async def _put_away(board: Board, *, keep: bool) -> None:
    """Let go of the engines and end them, whatever went wrong on the way here."""
    try:
        await board.close()
    finally:
        left_up = await board.provider.close(keep=keep)
        board.writer.event("closed", engines_left_up=left_up)


async def _laps(live: Live) -> None:
    board = live.board
    while begun := await board.begin(lambda: live.laps.next(board.steered, board.lost)):
        lap, served = begun
        measured = live.book.tally.measured.total()
        board.telling.expect(live.left(served))
        if served:
            await _lap(live, lap)
        in_vain = served and live.book.tally.measured.total() == measured
        if board.ended or (in_vain and live.laps.total is None):
            return


async def _steered(live: Live) -> None:
    """Turn to what is wished for; a newer wish breaks off the turn to an older one."""
    turning: asyncio.Task[None] | None = None
    try:
        while True:
            if (wish := live.wishes()) is not None:
                await _stopped(turning)
                live.board.writer.event("steer", arm=wish.label)
                turning = asyncio.create_task(live.board.wish(wish))
            if turning and turning.done():
                turning.result()
                turning = None
            await asyncio.sleep(EVERY_S)
    finally:
        await _stopped(turning)


async def _stopped(turning: asyncio.Task[None] | None) -> None:
    if turning:
        turning.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await turning


async def _lap(live: Live, lap: Lap) -> None:
    """Every agent once through."""
    board, agents = live.board, live.asked.agents
    board.telling.began()
    board.writer.event("lap", arm=lap.arm.label, repeat=lap.repeat, agents=agents)
    board.telling.say(f"measuring {lap.arm.label}", f"lap {lap.repeat + 1}")
    try:
        with bystanders(board, lap, live.book.tally):
            if agents == 1:
                await live.work.agent(lap, 0, Alone(board, lap, live.work.recorded_as))
            else:
                await _crowd(live, lap, [Among() for _ in range(agents)])
    except EngineError:
        if board.ended is None:
            raise


async def _crowd(live: Live, lap: Lap, agents: Sequence[Among]) -> None:
    """Several at once: counters are read around the lap, and are of no arm when it was toggled."""
    board, toggled = live.board, live.book.toggled
    station = board.station
    meter = await Meter.started(station.served.metrics if station else {}, board.clock)
    await _at_once([live.work.agent(lap, number, keeping) for number, keeping in enumerate(agents)])
    if live.book.toggled == toggled:
        await meter.lap()
        about = {"arm": lap.arm.label, "repeat": lap.repeat, "recording": live.work.recorded_as}
        about["engine"] = station.engine if station else ""
        board.writer.event("counters", **about, condition="", cache="cold", **meter.total())
    await tell_ceilings(board, lap, agents)


async def _at_once(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """All of it; the first LabError ends the others and is raised as it is."""
    errors: list[LabError] = []
    try:
        async with asyncio.TaskGroup() as group:
            for each in work:
                group.create_task(each)
    except* LabError as several:
        errors.extend(error for error in several.exceptions if isinstance(error, LabError))
    if errors:
        raise errors[0]
