"""Speculation in words and numbers: what was accepted, what it gained, and the steps in which it cost time."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from layer_runs import counters, opened, step, steps

from labkit.core.records import RunInfo
from labkit.experiments.dashboard.layers.costs import Cost, cost, gains
from labkit.experiments.dashboard.layers.drafts import UNKNOWN, drafter_name, drafters
from labkit.experiments.dashboard.layers.spec import spec_section


def drafted(turn: int, accepted: int, decode_s: float, arm: str = "spec", **changes):
    """A step that drafted 40 tokens in 10 rounds and decoded so long; base takes 2 s."""
    first = step(arm, turn).t_first_token or 0.0
    values = {"accepted_tokens": accepted, "drafted_tokens": 40, "drafts": 10, "t_last": first + decode_s,
              "t_end": first + decode_s, "spec": None}  # fmt: skip
    return step(arm, turn, **{k: v for k, v in {**values, **changes}.items() if k != "spec"})


def facts(section) -> dict[str, tuple[str, str]]:
    return {fact.label: (fact.value, fact.note) for fact in section.facts}


def test_the_sentence_says_what_was_accepted_what_it_gained_and_when_it_cost(tmp_path):
    spec = [drafted(turn, *how) for turn, how in enumerate([(4, 4.0), (8, 2.5), (20, 1.0), (30, 0.8), (38, 0.5)], 1)]
    run = opened(tmp_path, [*steps("base"), *spec], spec_method="ngram")
    section = spec_section(run, "spec", "cold", None)
    assert section.finding.startswith(
        "Under spec, ngram drafted 200 tokens, of which 50 % were accepted; decoding was 1.14x as fast as under base"
    )
    assert section.finding.endswith("; up to 20 % acceptance it cost time: 2 of 5 steps.")
    assert facts(section)["Accepted"] == ("50 %", "n = 5 steps")
    assert facts(section)["Tokens per round"][0] == "3.00"  # 1 + 100 / 50
    assert facts(section)["Slower steps"] == ("2 of 5", "paired steps")
    (dots,) = section.gain.drafters
    assert (dots.rates, dots.n_lost) == ((0.1, 0.2, 0.5, 0.75, 0.95), 2)
    assert dots.gains == pytest.approx((0.5, 0.8, 2.0, 2.5, 4.0))
    assert (section.drafted.accepted, section.drafted.refused) == ((4, 8, 20, 30, 38), (36, 32, 20, 10, 2))
    assert section.unpaired is None


@pytest.mark.parametrize(
    ("rates", "speedups", "words"),
    [
        ((0.1, 0.24, 0.5, 0.9, 1.0), (0.5, 0.9, 1.1, 2, 3), "up to 24 % acceptance it cost time: 2 of 5 steps"),
        ((0.1, 0.6, 0.5, 0.9, 1.0), (0.5, 0.9, 1.1, 2, 3),
         "it cost time in 2 of 5 steps, at 10 % to 60 % acceptance, where others gained"),
        ((1.0,) * 5, (0.9, 1.1, 1.1, 2, 3),
         "it cost time in 1 of 5 steps; all had 100 % accepted, so acceptance does not tell them apart"),
        ((0.5, 0.4, 0.6, 0.9, 1.0), (0.9, 1.1, 1.1, 2, 3),
         "it cost time in 1 of 5 steps, at 50 % acceptance, where others gained"),
        ((0.1,) * 5, (0.9,) * 5, "it cost time in all of 5 steps, whatever was accepted"),
        ((0.1, 0.2), (1.0, 2.0), "it cost time in none of 2 steps (too few to tell)"),
        ((), (), "no step was measured both with drafts and without, so what they cost is not known"),
    ],
)  # fmt: skip
def test_below_which_acceptance_it_costs_time(rates, speedups, words):
    table = pd.DataFrame({"method": ["ngram"] * len(rates), "rate": rates, "gain": speedups})
    assert cost(table, "ngram").words == words


def test_pairs_of_other_lengths_are_left_out_and_counted():
    assert "all 3 pairs wrote replies of different lengths" in Cost(method="ngram", n_other=3).words


def test_a_pair_needs_the_same_request_length_and_condition(tmp_path):
    rows = [
        *(step("base", turn, condition=f"steps={turn}") for turn in (1, 2)),
        drafted(1, 20, 1.0, condition="steps=1"),
        drafted(2, 20, 1.0, condition="steps=2", completion_tokens=21),
        drafted(1, 20, 1.0, condition="steps=2"),
    ]
    table, other = gains(drafters(opened(tmp_path, rows).counted, "spec", None, "ngram"))
    assert [(row.turn, row.gain, row.rate) for row in table.itertuples()] == [(1, 2.0, 0.5)]
    assert other == {"ngram": 1}


def test_several_drafters_are_told_apart_and_compared_with_none(tmp_path):
    rows = [
        *(step("base", turn, condition="method=none") for turn in range(1, 6)),
        *(drafted(turn, 20, 1.0, condition="method=ngram") for turn in range(1, 6)),
        *(drafted(turn, 40, 4.0, condition="method=draft_model") for turn in range(1, 6)),
    ]
    run = opened(tmp_path, rows, experiment="speculation")
    section = spec_section(run, "spec", "cold", None)
    assert section.finding == (
        "Under spec, ngram had 50 % accepted and decoding 2.00x as fast (too few to tell); draft_model had 100 % "
        "accepted and decoding 2.00x as long (too few to tell), all against base."
    )
    assert section.several
    assert section.unpaired is None
    assert [one.words for one in section.costs] == [
        "it cost time in none of 5 steps",
        "it cost time in all of 5 steps, whatever was accepted",
    ]
    one = spec_section(run, "spec", "cold", "method=ngram")
    assert not one.several
    assert one.finding.startswith("Under spec, ngram drafted 200 tokens, of which 50 %")


def test_pinned_replies_say_nothing_of_acceptance(tmp_path):
    section = spec_section(opened(tmp_path, steps("base", "spec", mode="pinned")), "spec", "cold", None)
    assert "every reply had a pinned length" in section.finding
    assert not section.measured


def test_an_engine_that_told_no_drafts_has_none_and_not_0_percent(tmp_path):
    silent = steps("base", "spec", drafted_tokens=None, accepted_tokens=None, drafts=None)
    section = spec_section(opened(tmp_path, silent), "spec", "cold", None)
    assert section.finding == "Under spec the engine did not say what it drafted, so nothing can be told."
    assert facts(section)["Accepted"][0] == "–"
    assert "counted no positions" in section.positions.caption.empty


def test_without_its_twin_acceptance_is_shown_and_the_gain_is_not(tmp_path):
    section = spec_section(opened(tmp_path, steps("spec"), spec_method="ngram"), "spec", "cold", None)
    assert section.unpaired is not None
    assert "base was not measured" in section.unpaired.words
    assert section.measured
    assert facts(section)["Decode gain"] == ("–", "not paired")
    assert facts(section)["Slower steps"] == ("–", "not paired")


def test_positions_are_of_the_arm_and_of_passes_that_count(tmp_path):
    grown = {"drafts": 10, "accepted_per_position": [9, 5, 1]}
    events = [counters("spec", engine=grown), counters("spec", repeat=9, engine=grown), counters("all", engine=grown)]
    run = opened(tmp_path, steps("base", "spec"), events, spec_method="ngram")
    (line,) = spec_section(run, "spec", "cold", None).positions.lines
    assert (line.method, line.drafts, line.rates) == ("ngram", 10, (0.9, 0.5, 0.1))


@pytest.mark.parametrize(
    ("asked", "argv", "name"),
    [
        ({"spec_method": "suffix"}, [], "suffix"),
        ({}, ["--speculative-config", json.dumps({"method": "ngram"})], "ngram"),
        ({}, ["--speculative-config", "not json"], UNKNOWN),
        ({}, ["--speculative-config"], UNKNOWN),
    ],
)
def test_the_drafter_is_named_by_what_was_asked_or_by_the_command_line(asked, argv, name):
    engines = {"a": {"processes": [{"role": "engine", "argv": argv}]}, "b": "http://127.0.0.1:1"}
    info = RunInfo(id="r", experiment="replay", created="", state="done", asked=asked, fingerprint={"engines": engines})
    assert drafter_name(info) == name
