"""Order of a run: fixed for few engine starts, block-randomised for drift."""

import pytest

from labkit.core.arms import ARMS, BASE, arm_named
from labkit.core.errors import BadInput
from labkit.experiments.design import Block, blocks


def labels(order: list[Block]) -> list[str]:
    return [block.arm.label for block in order]


def test_the_fixed_order_puts_arms_that_share_an_engine_side_by_side():
    order = labels(blocks(ARMS))
    assert order == ["base", "prefix", "spec", "prefix+spec", "pd", "prefix+pd", "pd+spec", "all"]


def test_a_seed_gives_every_repeat_every_arm_once_in_an_order_of_its_own():
    order = blocks(ARMS, repeats=4, seed=7)
    by_repeat = [labels([b for b in order if b.repeat == n]) for n in range(4)]
    assert all(sorted(batch) == sorted(arm.label for arm in ARMS) for batch in by_repeat)
    assert len({tuple(batch) for batch in by_repeat}) == 4


def test_the_order_follows_the_seed_and_not_how_the_arms_were_named():
    assert blocks(ARMS, 2, seed=1) == blocks(ARMS[::-1], 2, seed=1)
    assert blocks(ARMS, 2, seed=1) != blocks(ARMS, 2, seed=2)


def test_the_drift_check_measures_the_first_arm_again_as_a_further_repeat():
    order = blocks(ARMS[:3], repeats=2, seed=3, drift_check=True)
    assert order[-1] == Block(order[0].arm, 2, shows_drift=True)
    assert len(order) == 7


@pytest.mark.parametrize(
    ("arms", "repeats", "field"), [([], 1, "arms"), ([BASE, BASE], 1, "arms"), ([BASE], 0, "repeats")]
)
def test_a_design_that_measures_nothing_or_twice_is_refused(arms: list, repeats: int, field: str):
    with pytest.raises(BadInput) as error:
        blocks(arms, repeats)
    assert error.value.field == field


def test_one_arm_alone_is_a_design():
    assert blocks([arm_named("all")]) == [Block(arm_named("all"), 0)]
