"""One clock from two: the shortest round trip is believed, and says how far off it can be."""

import random

import pytest

from labkit.core.clock import FakeClock
from labkit.experiments.spread.offset import Offset, best, measured_offset


def test_the_shortest_round_trip_is_believed():
    found = best([(10.0, 105.0, 12.0), (20.0, 115.06, 20.1), (30.0, 128.0, 35.0)])
    assert found.offset_s == pytest.approx(95.01)
    assert found.uncertainty_s == pytest.approx(0.05)


@pytest.mark.parametrize("seed", range(20))
async def test_the_planted_offset_is_within_the_uncertainty_however_lopsided_the_way_is(seed: int):
    dice, clock, planted = random.Random(seed), FakeClock(100.0), 4321.125

    async def ask() -> float:
        clock.advance(dice.expovariate(1000))
        there = clock.now() + planted
        clock.advance(dice.expovariate(200))
        return there

    found = await measured_offset(ask, clock)
    assert abs(found.offset_s - planted) <= found.uncertainty_s
    assert 0 < found.uncertainty_s < 0.005


def test_drift_is_told_only_where_both_measurements_together_can_tell_it():
    before = Offset(5.0, 0.002)
    assert before.drift_to(Offset(5.003, 0.002)) is None
    assert before.drift_to(Offset(5.010, 0.002)) == pytest.approx(0.010)
    assert Offset(5.0, 0.0).drift_to(Offset(5.0005, 0.0)) is None  # too small to be worth a sentence
