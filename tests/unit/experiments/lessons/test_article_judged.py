"""Verdicts from answers and from numbers: each of the three, and never one that the data do not carry."""

from __future__ import annotations

import pytest
from unit.experiments.lessons.article_facts import claim, rate, seen

from labkit.engines.accepts import Answer
from labkit.experiments.lessons.article_judged import (
    DraftRoom,
    Judged,
    judged_answers,
    judged_memory,
    judged_reuse,
    judged_seqs,
    verdicts,
)
from labkit.experiments.lessons.article_numbers import HAS_THE_LAYER, WITHOUT_NUMBER, judged_number
from labkit.store.claims import load_claims

TAKEN = Answer(id="a", status="accepted")
REFUSED = Answer(id="b", status="refused", said="TypeError: got an\n unexpected   name")
IGNORED = Answer(id="c", status="ignored", compared=40)
LOST = Answer(id="d", status="not installed", said="vLLM is not installed here")
ON = Answer(id="e", status="accepted", read={"enable_prefix_caching": True})
OFF = Answer(id="f", status="accepted", read={"enable_prefix_caching": False})


def test_a_line_that_is_taken_agrees_and_one_that_is_refused_or_ignored_differs() -> None:
    assert judged_answers([TAKEN]) == Judged(verdict="agrees", because="the engine takes the line", here="accepted")
    refused = judged_answers([TAKEN, REFUSED])
    assert (refused.verdict, refused.here) == ("differs", "accepted; refused")
    assert refused.because == "the engine refuses it: `TypeError: got an unexpected name`"
    assert judged_answers([IGNORED]) == Judged(
        verdict="differs", because="none of 40 settings changes with it, and no warning names it", here="ignored"
    )


def test_nobody_to_ask_is_no_verdict_even_where_another_form_was_answered() -> None:
    assert judged_answers([REFUSED, LOST]).verdict == "cannot be seen here"
    assert "not installed here" in judged_answers([LOST]).because
    with pytest.raises(ValueError, match="at least one"):
        judged_answers([])


def test_a_yes_says_nothing_where_a_made_up_line_is_taken_too() -> None:
    assert judged_answers([TAKEN], control=TAKEN).verdict == "cannot be seen here"
    assert judged_answers([TAKEN], control=REFUSED).verdict == "agrees"
    assert judged_answers([REFUSED], control=TAKEN).verdict == "differs"


def test_reuse_is_judged_by_the_default_and_says_what_was_served() -> None:
    rates = seen(rate(76.0), {**rate(94.4, "prefix, steps=30"), "n": 12})
    differs = judged_reuse(ON, rates)
    assert (differs.verdict, differs.here) == ("differs", "76 to 94 % (2 settings, n 42)")
    assert differs.because.endswith("served 76 to 94 % (2 settings, n 42) of the prompt tokens")
    assert judged_reuse(ON, seen()).because == "the engine switches it on when nobody says"
    assert judged_reuse(OFF, rates).verdict == "agrees"
    assert judged_reuse(LOST, rates).verdict == "cannot be seen here"


def test_a_setting_that_is_taken_is_neither_right_nor_wrong() -> None:
    line = judged_answers([TAKEN])
    without = judged_seqs(line, 8, 60)
    assert (without.verdict, without.here) == ("cannot be seen here", "not needed here: --max-num-seqs 8, n 60")
    assert without.because == (
        "the engine takes it, and it would serialise prompts (by its meaning, not measured); 60 steps went through a "
        "split here without it, which says nothing of MoRI-IO"
    )
    for most, n in ((None, 60), (1, 60), (8, 0)):
        found = judged_seqs(line, most, n)
        assert (found.verdict, found.here) == ("cannot be seen here", "accepted")
        assert found.because.endswith("(by its meaning, not measured)")
    for other in (judged_answers([REFUSED]), judged_answers([LOST])):
        assert judged_seqs(other, 8, 60) == other


def test_memory_is_another_draft_s_and_the_weights_are_arithmetic() -> None:
    found = judged_memory(3.0, DraftRoom(0.573, 0.5, 40))
    assert found.here == "+0.57 GB with a draft model, 50 % of the KV blocks left (n 40 readings)"
    assert found.because == "the draft that it names was not run here; its weights would be 3.0 GB in bf16"
    assert judged_memory(None, None) == Judged(
        verdict="cannot be seen here", because="the draft that it names was not run here"
    )


@pytest.mark.parametrize(
    ("claimed", "verdict", "expected"),
    [
        (2.0, "better", "agrees"),
        (2.0, "worse", "differs"),
        (2.0, "same", "differs"),
        (0.5, "worse", "agrees"),
        (1.0, "same", "agrees"),
        (2.0, "too few to tell", "cannot be seen here"),
        (2.0, "not measured", "cannot be seen here"),
    ],
)
def test_a_gain_agrees_by_its_side_of_one(claimed: float, verdict: str, expected: str) -> None:
    found = judged_number(claim(value=claimed), seen({"verdict": verdict}))
    assert found.verdict == expected
    assert found.here == "3.00x (2.50 to 3.50, n 30, prefix)"


def test_of_several_gains_those_that_are_told_decide() -> None:
    several = seen({"verdict": "too few to tell"}, {"verdict": "worse", "where": "ngram"}, {"verdict": "better"})
    assert judged_number(claim(), several).verdict == "agrees"
    assert judged_number(claim(), several[:2]).because == "worse here, where the claim says better"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"layer": "speculation"}, "no run here measured time to first token of speculation"),
        ({"metric": "goodput"}, "no run here measured goodput of prefix caching"),
        ({"unit": "%"}, "no run here measured time to first token of prefix caching"),
        ({"layer": "none", "metric": "agents_per_mw"}, "no run here measured agents per mw"),
        ({"value": None}, "it has no number to compare with"),
        ({"value": float("nan")}, "it has no number to compare with"),
        ({"baseline": HAS_THE_LAYER[0]}, "its baseline has the layer already; no run here compares two ways of it"),
    ],
)
def test_what_no_run_speaks_about_cannot_be_seen(changes: dict, why: str) -> None:
    found = judged_number(claim(**changes), seen({}))
    assert (found.verdict, found.because, found.here) == ("cannot be seen here", why, "–")


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (85.0, None, None, "agrees"),
        (97.0, 85.0, 97.0, "agrees"),
        (95.0, None, None, "differs"),
        (50.0, 19.0, 50.0, "differs"),
        (76.0, None, None, "agrees"),
    ],
)
def test_a_level_agrees_where_the_ranges_meet(value: float, low: float, high: float, expected: str) -> None:
    rates = seen(rate(76.0), rate(94.0))
    found = judged_number(claim(metric="hit_rate", unit="%", value=value, low=low, high=high), rates)
    assert found.verdict == expected
    if expected == "differs":
        assert found.because == f"all that was seen here is {'below' if value > 90 else 'above'} it"


def split(ttft: str, itl: str) -> tuple[dict, dict]:
    row = {"layer": "pd_split", "where": "prefix+pd, 4 agents", "agents": 4}
    return {**row, "verdict": ttft, "value": 0.4}, {**row, "metric": "itl_p99_s", "verdict": itl, "value": 2.0}


@pytest.mark.parametrize(
    ("ttft", "itl", "expected"),
    [
        ("worse", "better", "agrees"),
        ("worse", "worse", "differs"),
        ("better", "too few to tell", "differs"),
        ("worse", "too few to tell", "cannot be seen here"),
    ],
)
def test_a_claim_of_directions_needs_each_of_them(ttft: str, itl: str, expected: str) -> None:
    said = claim(id="moriio-ttft-worse", layer="pd_split", value=None)
    assert judged_number(said, seen(*split(ttft, itl))).verdict == expected


def test_a_direction_under_load_is_not_contradicted_by_one_agent_alone() -> None:
    said = claim(id="moriio-ttft-worse", layer="pd_split", value=None)
    alone = {"layer": "pd_split", "metric": "itl_p99_s", "where": "pd", "verdict": "worse", "value": 0.7}
    assert judged_number(said, seen(*split("worse", "better"), alone)).verdict == "agrees"
    contradicted = judged_number(said, seen(split("worse", "better")[0], alone))
    assert contradicted.because == "here ITL p99 is worse: 0.70x (2.50 to 3.50, n 30, pd)"


def test_a_direction_that_no_run_speaks_about_is_named() -> None:
    said = claim(id="moriio-ttft-worse", layer="pd_split", value=None)
    found = judged_number(said, seen({}))
    assert (found.verdict, found.here) == ("cannot be seen here", "–")
    assert found.because == "too few to tell of time to first token and ITL p99"


def test_what_is_said_of_claims_by_name_is_still_among_the_claims() -> None:
    claims = load_claims().set_index("id")
    assert set(HAS_THE_LAYER) <= set(claims["baseline"])
    assert claims.loc[list(WITHOUT_NUMBER), "value"].isna().all()


def test_verdicts_are_counted_by_name() -> None:
    assert verdicts([judged_answers([TAKEN]), judged_answers([IGNORED]), judged_answers([IGNORED])]) == {
        "agrees": 1, "differs": 2, "cannot be seen here": 0,
    }  # fmt: skip
