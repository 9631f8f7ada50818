"""What a confirmation says, with numbers that were worked out from Tango's score test."""

import pytest

from labkit.analysis.confirmation import NOTHING_SOLVED, confirmation, in_words
from labkit.analysis.outcomes import NEVER_RAN, OutcomeRow, solved
from labkit.analysis.tables import typed_frame


def tried(base: str, arm: str):
    """One attempt at each task: `+` solved, `-` not, `x` never ran since the arm was given up, ` ` not tried."""
    rows = [
        OutcomeRow(
            arm=label,
            task=f"t{n}",
            attempt=0,
            reached=mark == "+",
            stop_reason=NEVER_RAN if mark == "x" else "finished",
            steps=3,
            seconds=None if mark == "x" else 1.0,
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
    assert in_words(alone, "base", "spec", tried("++", "  ")) == "spec against base: too few to tell: no task"


def test_the_sentence_has_difference_interval_and_n():
    table = tried("+" * 4, "-" + "+" * 3)
    said = in_words(confirmation(table, "base", "spec", 0.1), "base", "spec", table)
    assert "-25 points" in said
    assert "n 4 pairs" in said
    assert "never ran" not in said


def test_what_an_arm_never_ran_is_not_solved_and_is_said():
    table = tried("+" * 30, "+" * 5 + "x" * 25)
    found = confirmation(table, "base", "spec", 0.1)
    assert (found.n_arm, found.difference) == (30, pytest.approx(-25 / 30))
    assert found.verdict.startswith("worse")
    said = in_words(found, "base", "spec", table)
    assert said.endswith("n 30 pairs of attempts); 25 attempts of spec never ran and count as not solved")
    row = solved(table).set_index("arm").loc["spec"]
    assert (row["n_solved"], row["n_attempts"], row["n_never_ran"], row["n_cut"]) == (5, 30, 25, 0)
    assert (row["attempt_s"], row["solved_s"]) == (1.0, 1.0)


def test_what_neither_arm_ran_is_no_pair():
    table = tried("+x x", "xx+x")
    found = confirmation(table, "base", "spec", 0.1)
    assert (found.n_base, found.n_arm) == (1, 1)
    assert "1 attempt of spec never ran and counts as not solved" in in_words(found, "base", "spec", table)
    assert "attempts of base" not in in_words(found, "base", "spec", table)
