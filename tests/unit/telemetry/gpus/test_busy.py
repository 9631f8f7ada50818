"""Busy shares from accumulators, with the answers known beforehand."""

import pytest

from labkit.telemetry.gpus.busy import BusyShare

TOP = 2**32


def shares(*reads: tuple[int | None, float | None]) -> list[float | None]:
    busy = BusyShare()
    return [busy.share(accumulated, ms) for accumulated, ms in reads]


def test_a_quarter_of_a_second_and_all_of_the_next() -> None:
    assert shares((500, 1000.0), (25_500, 2000.0), (125_500, 3000.0), (125_500, 4000.0)) == [None, 0.25, 1.0, 0.0]


def test_the_share_is_of_the_firmwares_time_and_not_of_the_number_of_reads() -> None:
    assert shares((0, 0.0), (30_000, 600.0))[1] == pytest.approx(0.5)


def test_a_counter_of_32_bits_that_overflows() -> None:
    assert shares((TOP - 10_000, 1000.0), (40_000, 2000.0)) == [None, 0.5]


def test_what_is_not_told_breaks_the_interval() -> None:
    assert shares((0, 0.0), (None, 1000.0), (90_000, 2000.0), (100_000, 3000.0)) == [None, None, None, 0.1]
    assert shares((0, 0.0), (10_000, None), (20_000, 2000.0)) == [None, None, None]


def test_a_clock_that_stands_or_steps_back_is_no_interval() -> None:
    assert shares((5, 1000.0), (5, 1000.0), (10_005, 2000.0)) == [None, None, 0.1]
    assert shares((5000, 9000.0), (100, 50.0), (10_100, 1050.0)) == [None, None, 0.1]


def test_a_reset_of_the_accumulator_alone_is_not_a_share() -> None:
    assert shares((80_000, 1000.0), (1_000, 2000.0), (26_000, 3000.0)) == [None, None, 0.25]


def test_rounding_is_cut_and_another_unit_is_not() -> None:
    """A hundred thousandths too many are two counters that were not read at one instant; twice as many are not."""
    assert shares((0, 0.0), (102_000, 1000.0)) == [None, 1.0]
    assert shares((0, 0.0), (200_000, 1000.0)) == [None, None]
