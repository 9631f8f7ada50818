"""What drafts promise, by the formula's own numbers, and what rounds gave and took, of pairs with known answers."""

from __future__ import annotations

import pandas as pd
import pytest
from builders import a_step, frame_of

from labkit.analysis.draft_promise import break_even, expected_length, given_before, promised_gain
from labkit.analysis.draft_rounds import round_table
from labkit.core.errors import BadInput
from labkit.core.records import StepRecord


def without(turn: int, decode_s: float = 2.0, **changes: object) -> StepRecord:
    """21 tokens, 20 of them decoded: a pass takes a tenth of a second. The first token takes half a second."""
    told = {"arm": "prefix", "condition": "method=none", "turn": turn, "completion_tokens": 21}
    times = {"t_send": 0.0, "t_first_token": 0.5, "t_last": 0.5 + decode_s, "t_end": 0.5 + decode_s}
    return a_step(**{**told, **times, **changes})


def with_drafts(turn: int, decode_s: float = 1.5, **changes: object) -> StepRecord:
    """5 rounds of 4 tokens, 10 accepted: 10 passes are left, which would take a second."""
    drafts = {"drafts": 5, "drafted_tokens": 20, "accepted_tokens": 10}
    return without(turn, decode_s, **{"arm": "prefix+spec", "condition": "method=ngram", **drafts, **changes})


def row(rows: list[StepRecord], group: str = "all") -> pd.Series:
    table = round_table(frame_of(rows))
    (found,) = table[table["group"] == group].to_dict("records")
    return found


def test_the_formula_is_tau_over_the_passes_of_a_round():
    assert break_even(0.25, 4) == 2.0
    assert promised_gain(3.0, 0.25, 4) == 1.5
    assert promised_gain(4.0, 1.0, 3) == 1.0  # the same model as its own drafter, always right


@pytest.mark.parametrize(("c", "k"), [(-0.1, 4), (0.5, -1)])
def test_no_cost_and_no_draft_is_negative(c, k):
    with pytest.raises(BadInput, match="0 or more"):
        break_even(c, k)


@pytest.mark.parametrize(("chance", "k", "tokens"), [(0.0, 4, 1.0), (1.0, 4, 5.0), (0.5, 3, 1.875), (0.8, 4, 3.36160)])
def test_equation_one_counts_the_tokens_of_a_round(chance, k, tokens):
    assert expected_length(chance, k) == pytest.approx(tokens)
    if chance < 1:
        assert expected_length(chance, k) == pytest.approx((1 - chance ** (k + 1)) / (1 - chance))


def test_a_chance_is_a_share():
    with pytest.raises(BadInput, match="0 to 1"):
        expected_length(1.1, 4)


def test_a_position_is_given_what_the_one_before_accepted():
    table = pd.DataFrame(
        {"method": ["ngram", "ngram", "ngram", "suffix", "suffix"], "position": [1, 2, 3, 1, 2],
         "drafts": 10, "accepted": [8, 4, 4, 0, 0], "rate": [0.8, 0.4, 0.4, 0.0, 0.0]}
    )  # fmt: skip
    given = given_before(table)["given"]
    assert given[:4].tolist() == pytest.approx([0.8, 0.5, 1.0, 0.0])
    assert pd.isna(given[4])  # none got there, so nothing is known


def test_an_accepted_token_gives_a_pass_and_the_rest_is_taken():
    found = row([without(1), with_drafts(1)])
    assert (found["n_pairs"], found["rounds"], found["length"]) == (1, 5, 3.0)
    assert found["given_s"] == pytest.approx(1.0)
    assert found["taken_s"] == pytest.approx(0.5)
    assert found["round_passes"] == pytest.approx(
        2.0
    )  # half a second more in 5 rounds: a tenth each, as long as a pass
    assert found["decode_gain"] == pytest.approx(2 / 1.5)
    assert found["decode_share"] == pytest.approx(0.8)
    assert (found["gain"], found["most"]) == (pytest.approx(2.5 / 2.0), pytest.approx(5.0))
    assert found["first_gain"] == pytest.approx(1.0)
    assert found["too_few"]


def test_free_checking_takes_nothing_and_a_drafter_that_is_refused_gives_nothing():
    free = row([without(1), with_drafts(1, decode_s=1.0)])
    assert (free["taken_s"], free["round_passes"]) == (pytest.approx(0.0), pytest.approx(1.0))
    vain = row([without(1), with_drafts(1, decode_s=3.0, accepted_tokens=0)])
    assert (vain["given_s"], vain["taken_s"]) == (pytest.approx(0.0), pytest.approx(1.0))
    assert vain["decode_gain"] == pytest.approx(2 / 3)


def test_seconds_are_summed_and_rounds_weighted_by_what_a_pass_takes():
    rows = [without(1), with_drafts(1), without(2, decode_s=4.0), with_drafts(2, decode_s=2.0)]
    found = row(rows)
    assert (found["given_s"], found["taken_s"]) == (pytest.approx(3.0), pytest.approx(0.5))
    assert found["round_passes"] == pytest.approx(1 + 0.5 / (5 * 0.1 + 5 * 0.2))


def test_only_natural_pairs_of_one_length_that_told_their_drafts_count():
    rows = []
    odd = [{"completion_tokens": 20}, {"mode": "pinned"}, {"error": "HTTP 500"}, {"drafts": None}, {"warmup": True},
           {"t_last": 0.5}]  # fmt: skip
    for turn, changes in enumerate(odd, 1):
        rows += [without(turn), with_drafts(turn, **changes)]
    assert not len(round_table(frame_of(rows)))
    assert row([*rows, without(9), with_drafts(9)])["n_pairs"] == 1


def test_rows_are_of_kinds_and_turns_too_and_the_first_token_may_come_later():
    rows = [with_drafts(7, kind="answer", t_send=-0.5), without(7, kind="answer")]
    table = round_table(frame_of(rows))
    assert table[["by", "group"]].to_numpy().tolist() == [["all", "all"], ["kind", "answer"], ["turn", "6-20"]]
    assert table["first_gain"].tolist() == pytest.approx([0.5] * 3)


def test_a_run_without_a_reference_has_no_rounds_to_time():
    assert not len(round_table(frame_of([with_drafts(1)])))
