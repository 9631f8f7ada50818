"""What a confirmation says, with numbers that were worked out from Tango's score test."""

import pytest

from labkit.analysis.confirmation import NOTHING_SOLVED, confirmation, in_words
from labkit.analysis.outcomes import OutcomeRow
from labkit.analysis.tables import typed_frame


def tried(base: str, arm: str):
    """One attempt at each task: `+` solved, `-` not, ` ` not tried."""
    rows = [
        OutcomeRow(
            arm=label, task=f"t{n}", attempt=0, reached=mark == "+", stop_reason="finished", steps=3, seconds=1.0
        )
        for label, marks in (("base", base), ("spec", arm))
        for n, mark in enumerate(marks)
        if mark != " "
    ]
    return typed_frame(OutcomeRow, rows)


def test_as_good_with_enough_pairs_is_not_worse():
    found = confirmation(tried("+" * 60, "+" * 60), "base", "spec", 0.1)
    assert found.verdict.startswith("not worse")
    # no discordant pair: the lower end is -z^2 / (n + z^2)
    assert found.low == pytest.approx(-(1.959964**2) / (60 + 1.959964**2), abs=1e-6)
    assert found.n_arm == 60


def test_as_good_with_few_pairs_is_too_few_to_tell():
    assert confirmation(tried("+" * 6, "+" * 6), "base", "spec", 0.1).verdict.startswith("too few to tell")


def test_a_clear_loss_is_worse():
    found = confirmation(tried("+" * 30, "-" * 25 + "+" * 5), "base", "spec", 0.1)
    assert found.verdict.startswith("worse")
    assert found.difference == pytest.approx(-25 / 30)


def test_nothing_solved_shows_nothing_however_often_it_was_tried():
    found = confirmation(tried("-" * 200, "-" * 200), "base", "spec", 0.1)
    assert found.low > -0.1
    assert found.verdict == NOTHING_SOLVED


def test_an_attempt_without_its_partner_is_left_out_and_an_arm_that_never_ran_is_said():
    assert confirmation(tried("++", "+ "), "base", "spec", 0.1).n_arm == 1
    alone = confirmation(tried("++", "  "), "base", "spec", 0.1)
    assert (alone.n_arm, alone.verdict) == (0, "too few to tell: no task")
    assert in_words(alone, "base", "spec") == "spec against base: too few to tell: no task"


def test_the_sentence_has_difference_interval_and_n():
    said = in_words(confirmation(tried("+" * 4, "-" + "+" * 3), "base", "spec", 0.1), "base", "spec")
    assert "-25 points" in said
    assert "n 4 pairs" in said
