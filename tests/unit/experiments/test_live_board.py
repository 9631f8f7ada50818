"""The switchboard when an engine had to make room: whoever waits is served again, or told why not; nobody hangs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from labkit.core.arms import BASE, Arm, arm_named
from labkit.core.clock import SystemClock
from labkit.core.errors import EngineError, LabError, NotEnoughMemory, WeightsError
from labkit.core.progress import OnProgress, silent
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.live_board import Board
from labkit.experiments.live_holds import Station
from labkit.experiments.live_lap import Lap
from labkit.experiments.live_telling import Telling
from labkit.experiments.serving import Served, StaticProvider
from labkit.store.runs import Run, RunStore, RunWriter

SPEC, PD = arm_named("spec"), arm_named("pd")


class Cramped(StaticProvider):
    """Room for one engine: whatever else is asked for, `base` makes room. `spec` takes a start, `pd` is refused.

    `refusal`: what else is refused, and how.
    """

    board: Board
    refusal: dict[str, Exception]

    def starts(self, arms: Any, spec_methods: Any = (), *, fresh: bool = False) -> list[float]:
        return [0.5] * len(arms)

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        if error := self.refusal.get(arm.label):
            raise error
        if arm != BASE and self.board.station:
            await self.board.leave(self.board.station.engine)
        if arm == PD:
            raise NotEnoughMemory("it does not fit; it was started with --api-key hunter2", "export HF_TOKEN=hunter2")
        if arm == SPEC:
            await asyncio.sleep(60)
        return await super().serve(arm, on_progress, spec_method)


async def _no_warm_up(_: Station) -> None:
    return


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    """A board under which `base` serves."""
    clock, writer = SystemClock(), RunStore(tmp_path).create("live", {}, {})
    async with FakeEngine(FakeDials()) as engine:
        provider = Cramped(dict.fromkeys(("base", "spec", "pd"), engine.base_url), "fake")
        board = Board(writer, provider, clock, Telling(writer, None), _no_warm_up)
        provider.board, provider.refusal = board, {}
        await board.begin(lambda: Lap(arm=BASE, repeat=0))
        yield board
        await board.close()
    writer.finish("done")


async def broken_off(board: Board, arm: Arm) -> None:
    """A wish for this arm that a newer one replaces while its engine is being started."""
    turning = asyncio.create_task(board.wish(arm))
    await asyncio.sleep(0.05)
    turning.cancel()
    await asyncio.gather(turning, return_exceptions=True)


async def served(board: Board) -> str:
    async with asyncio.timeout(5), board.sending() as station:
        return station.arm.label


def refused(writer: RunWriter) -> list[dict[str, Any]]:
    return [event for event in Run(writer.folder).events() if event["type"] == "refused"]


async def test_the_arm_that_made_room_comes_back_when_what_was_wished_for_next_is_refused(board: Board):
    await broken_off(board, SPEC)
    await board.wish(PD)
    assert await served(board) == "base"
    assert board.ended is None


async def test_flipped_back_during_a_start_nothing_is_said_to_start_any_more(board: Board):
    await broken_off(board, SPEC)
    board.telling.say("starting spec")
    await board.wish(BASE)
    last = [event for event in Run(board.writer.folder).events() if event["type"] == "progress"][-1]
    assert last["stage"] == "measuring base"


async def test_when_it_cannot_come_back_who_waits_is_told(board: Board):
    waiting = asyncio.create_task(served(board))
    await waiting
    await broken_off(board, SPEC)
    waiting = asyncio.create_task(served(board))
    board.provider.refusal["base"] = EngineError("its port is taken", "Free it.")
    await board.wish(PD)
    with pytest.raises(EngineError, match="its port is taken"):
        await waiting
    assert [event["arm"] for event in refused(board.writer)] == ["pd", "base"]
    assert board.lost["base"] == "its port is taken"


async def test_back_to_the_arm_that_made_room_is_a_start_of_its_own(board: Board):
    await broken_off(board, SPEC)
    await board.wish(BASE)
    assert await served(board) == "base"


@pytest.mark.parametrize("error", [WeightsError("no weights here", "Fetch them."), OSError("no space left on device")])
async def test_whatever_an_arm_cannot_be_had_for_is_a_refusal(board: Board, error: Exception):
    board.provider.refusal["spec"] = error
    await board.wish(SPEC)
    assert await served(board) == "base"
    (event,) = refused(board.writer)
    assert event["message"] == str(error).split("\n", maxsplit=1)[0]
    assert event["hint"] == (error.hint if isinstance(error, LabError) else "")


async def test_no_secret_of_a_refusal_is_kept(board: Board):
    await board.wish(PD)
    assert refused(board.writer)[0]["arm"] == "pd"
    assert "hunter2" not in (board.writer.folder / "events.jsonl").read_text(encoding="utf-8")
    assert "hunter2" not in board.lost["pd"]
