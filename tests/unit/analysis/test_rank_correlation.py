"""Rank correlations that were worked out by hand."""

import math

import pytest

from labkit.analysis.rank_correlation import rank_correlation


def test_what_rises_together_is_one_whatever_its_shape():
    assert rank_correlation([1, 2, 3, 4], [1, 10, 100, 1000]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3, 4], [9, 4, 1, 0]) == pytest.approx(-1)


def test_by_the_formula_for_ranks_without_ties():
    # d = 0, -1, 1, -1, 1: 1 - 6 * 4 / (5 * 24)
    assert rank_correlation([1, 2, 3, 4, 5], [10, 30, 20, 50, 40]) == pytest.approx(0.8)


def test_ties_share_their_mean_rank():
    # ranks 1.5, 3, 4, 5, 1.5 against 1 to 5
    assert rank_correlation([200, 208, 216, 224, 200], [1, 2, 3, 4, 5]) == pytest.approx(2 / math.sqrt(9.5 * 10))


def test_a_pair_with_a_gap_is_left_out():
    assert rank_correlation([1, 2, float("nan"), 3], [1, 2, 0, 3]) == pytest.approx(1)


@pytest.mark.parametrize(("one", "other"), [([1, 2], [1, 2]), ([5, 5, 5], [1, 2, 3]), ([], [])])
def test_nothing_to_rank(one, other):
    assert rank_correlation(one, other) is None


def test_lengths_must_agree():
    with pytest.raises(ValueError):
        rank_correlation([1, 2, 3], [1, 2])
