"""Which repeats belong together, who gets them, and what becomes of them when a node is lost."""

import asyncio

import pytest

from labkit.core.arms import arm_named
from labkit.experiments.design import Block, Design, blocks
from labkit.experiments.spread.board import Board
from labkit.experiments.spread.units import Unit, only, units

BASE, PREFIX = arm_named("base"), arm_named("prefix")


def design(repeats: int, seed: int | None = 1, drift_check: bool = False) -> Design:
    return Design(tuple(blocks([BASE, PREFIX], repeats, seed, drift_check)), lambda _: ("pass",))


@pytest.mark.parametrize("seed", [None, 4])
def test_a_unit_is_a_whole_repeat_whatever_the_order_of_blocks(seed):
    made = units(design(3, seed))
    assert [unit.repeat for unit in made] == [0, 1, 2]
    assert sorted(number for unit in made for number in unit.numbers) == list(range(6))
    for unit in made:
        assert set(unit.labels) == {"base", "prefix"}
        assert list(unit.numbers) == sorted(unit.numbers)
        assert unit.follows is None
    assert units(design(2))[1].named.startswith("repeat 2 (")


def test_the_block_that_shows_drift_follows_the_first_repeat():
    *whole, last = units(design(2, drift_check=True))
    assert [unit.follows for unit in whole] == [None, None]
    assert (last.repeat, last.follows, last.numbers) == (2, 0, (4,))
    assert last.named.startswith("the block that shows drift (")


@pytest.mark.parametrize("seed", [None, 4])
def test_of_one_arm_the_block_that_shows_drift_is_no_repeat_either(seed):
    *whole, last = units(Design(tuple(blocks([BASE], 2, seed, drift_check=True)), lambda _: ("pass",)))
    assert [(unit.repeat, unit.follows) for unit in whole] == [(0, None), (1, None)]
    assert (last.repeat, last.follows, last.named) == (2, 0, "the block that shows drift (base)")


def test_a_design_for_one_unit_keeps_the_numbers_of_its_blocks():
    left = only(design(2), (2, 3))
    assert [number for number in range(4) if left.left(number)] == [2, 3]
    assert left.blocks[3] == Block(design(2).blocks[3].arm, 1)


async def taken(board: Board, node: str) -> int | None:
    unit = await asyncio.wait_for(board.take(node), 1)
    return None if unit is None else unit.repeat


async def work(board: Board, node: str) -> list[int]:
    did = []
    while unit := await asyncio.wait_for(board.take(node), 1):
        did.append(unit.repeat)
        await asyncio.sleep(0)
        await board.finished(node, unit)
    return did


async def test_repeats_go_round_and_what_follows_comes_last_on_its_node():
    board = Board(units(design(5, drift_check=True)), ["a", "b"])
    assert await asyncio.gather(work(board, "a"), work(board, "b")) == [[0, 2, 4, 5], [1, 3]]
    assert board.given_up == {}
    assert board.done == {0: "a", 1: "b", 2: "a", 3: "b", 4: "a", 5: "a"}


async def test_an_idle_node_waits_for_what_a_lost_one_may_leave_it():
    board = Board(units(design(2)), ["a", "b"])
    first, second = await board.take("a"), await board.take("b")
    await board.finished("a", first)
    waiting = asyncio.create_task(board.take("a"))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    await board.lost("b", second, "b was lost")
    assert (await asyncio.wait_for(waiting, 1)) == second
    await board.finished("a", second)
    assert await taken(board, "a") is None
    assert board.alive == ["a"]


async def test_a_repeat_is_given_up_after_its_retries_and_the_queue_behind_it_is_not():
    board = Board(units(design(4)), ["a", "b", "c"], retries=1)  # a: 0, 3
    await board.lost("a", await board.take("a"), "a was lost")
    assert await taken(board, "b") == 1
    moved = {node: [unit.repeat for unit in board._queues[node]] for node in ("b", "c")}
    assert sorted([*moved["b"], *moved["c"]]) == [0, 2, 3]
    holder = "b" if 0 in moved["b"] else "c"
    while (unit := await board.take(holder)).repeat != 0:
        await board.finished(holder, unit)
    await board.lost(holder, unit, "it was lost, too")
    assert {repeat: why for repeat, (_, why) in board.given_up.items()} == {0: "it was lost, too, after 1 retry"}
    assert 3 not in board.given_up


async def test_drift_is_not_measured_on_another_node_than_the_first_repeat():
    board = Board(units(design(1, drift_check=True)), ["a", "b"])
    first = await board.take("a")
    await board.finished("a", first)
    drift = await board.take("a")
    await board.lost("a", drift, "a was lost")
    assert "what it is compared with was measured there" in board.given_up[1][1]
    assert await taken(board, "b") is None


async def test_without_a_first_repeat_there_is_no_drift_to_see():
    board = Board(units(design(1, drift_check=True)), ["a"], retries=0)
    await board.lost("a", await board.take("a"), "a was lost")
    assert {repeat: why for repeat, (_, why) in board.given_up.items()} == {
        0: "a was lost, and no node is left",
        1: f"{Unit(0, (0, 1), units(design(1))[0].labels).named} was not measured",
    }
