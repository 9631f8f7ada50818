"""Non-inferiority of task success, against published intervals."""

import pytest

from labkit.analysis.success import non_inferior
from labkit.core.errors import BadInput

BEFORE = [True] * 2 + [False] * 19
AFTER = [True, False] + [True] * 7 + [False] * 12


def test_tango_as_published():
    """Airway hyper-responsiveness, 21 patients (in Fagerland, Lydersen and Laake 2014): -0.517 to -0.026."""
    row = non_inferior(AFTER, BEFORE, 0.1, paired=True)
    assert (row.difference, row.low, row.high) == pytest.approx((-6 / 21, -0.517, -0.026), abs=5e-4)
    assert row.verdict.startswith("worse")


def test_newcombe_as_published():
    """56 of 70 against 48 of 80 (Newcombe 1998, table II a, method 10): 0.0524 to 0.3339."""
    row = non_inferior([True] * 48 + [False] * 32, [True] * 56 + [False] * 14, 0.1, paired=False)
    assert (row.low, row.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert row.verdict.startswith("not worse")


@pytest.mark.parametrize(("n", "says"), [(5, "too few to tell"), (20, "too few to tell"), (50, "not worse")])
def test_all_solved_in_both_proves_little_with_few_tasks(n, says):
    row = non_inferior([True] * n, [True] * n, 0.1, paired=True)
    assert (row.low, row.high) == pytest.approx((-3.8415 / (n + 3.8415), 3.8415 / (n + 3.8415)), abs=1e-4)
    assert row.verdict.startswith(says)


def test_turned_round_the_interval_turns_round():
    there, back = (non_inferior(*pair, 0.1, paired=True) for pair in ((AFTER, BEFORE), (BEFORE, AFTER)))
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))


def test_all_lost_and_none():
    assert non_inferior([True] * 5, [False] * 5, 0.1, paired=True).low == -1.0
    row = non_inferior([], [], 0.1, paired=True)
    assert (row.low, row.difference, row.verdict) == (None, None, "too few to tell: no task")


@pytest.mark.parametrize("margin", [0.0, 1.0, -0.1])
def test_the_margin_is_a_share(margin):
    with pytest.raises(BadInput, match="margin"):
        non_inferior([True], [True], margin, paired=True)


def test_pairs_are_of_one_length():
    with pytest.raises(BadInput, match="as many outcomes as base: 2"):
        non_inferior([True, False], [True], 0.1, paired=True)
