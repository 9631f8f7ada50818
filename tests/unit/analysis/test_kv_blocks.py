"""The number of blocks behind a gauge: exact from few readings, and nothing where there is no single whole."""

from __future__ import annotations

import pytest

from labkit.analysis.kv_blocks import blocks_of


def gauge(used: int, blocks: int) -> float:
    """As vLLM works it out."""
    return 1.0 - ((blocks - used) / blocks)


@pytest.mark.parametrize("blocks", [1091, 545, 140_000])
def test_some_readings_give_the_number_away(blocks):
    assert blocks_of([gauge(used, blocks) for used in (0, 22, 23, 57, 80)]) == blocks


def test_readings_of_an_example_run_are_of_1091_blocks():
    assert blocks_of([0.0733272227314391, 0.025664527956003713, 0.05224564619615035]) == 1091


@pytest.mark.parametrize("readings", [[], [0.0], [1.0], [0.0, 1.0]])
def test_an_idle_engine_tells_nothing(readings):
    assert blocks_of(readings) is None


def test_readings_of_several_wholes_tell_nothing():
    assert blocks_of([gauge(7, 1091), gauge(9, 1009)]) is None
