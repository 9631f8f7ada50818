"""Numbers as people read them."""

import numpy as np
import pandas as pd
import pytest

from labkit.analysis.format import DASH, count, joules, percent, plain, seconds, seconds_alike, times, usd


@pytest.mark.parametrize("show", [seconds, count, percent, times, plain])
@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
def test_not_measured_is_a_dash(show, nothing):
    assert show(nothing) == DASH


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (seconds(0), "0.00 ms"),
        (seconds(0.0004), "0.40 ms"),
        (seconds(0.0523), "52.3 ms"),
        (seconds(0.9996), "1.00 s"),
        (seconds(0.999), "999 ms"),
        (seconds(37.24), "37.2 s"),
        (seconds(1234.5), "1,234 s"),
        (seconds(-0.05), "-50.0 ms"),
        (count(0), "0"),
        (count(999), "999"),
        (count(1000), "1.0k"),
        (count(13_249), "13.2k"),
        (count(132_499), "132k"),
        (count(999_999), "1.0M"),
        (count(np.int64(4_560_000)), "4.6M"),
        (percent(0), "0 %"),
        (percent(0.042), "4.2 %"),
        (percent(0.0999), "10 %"),
        (percent(0.853), "85 %"),
        (percent(1.0), "100 %"),
        (times(2.306), "2.31x"),
        (times(0.95), "0.95x"),
        (plain(3.123), "3.12"),
    ],
)
def test_numbers(shown, expected):
    assert shown == expected


def test_times_in_one_unit():
    assert seconds_alike(0.212, 0.6) == (("212", "600"), "ms")
    assert seconds_alike(0.212, 1.6) == (("0.21", "1.60"), "s")
    assert seconds_alike(None, 0.5) == ((DASH, "500"), "ms")
    assert seconds_alike(None, np.nan) == ((DASH, DASH), "")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(20.72, "$20.7"), (1300, "$1,300"), (0.001234, "$0.00123"), (0.5, "$0.500"), (0, "$0.00"), (None, "–"),
     (4.2e-8, "$4.2e-08"), (float("nan"), "–")],
)  # fmt: skip
def test_money_in_three_digits(value: float | None, shown: str) -> None:
    assert usd(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(950.0, "950 J"), (12_345.0, "12.3 kJ"), (999.7, "1.00 kJ"), (None, "–")])
def test_joules_in_words(value: float | None, shown: str) -> None:
    assert joules(value) == shown
