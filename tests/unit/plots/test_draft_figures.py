"""The figures on drafts of the notebook: the numbers behind each, and that what is drawn is what they say."""

from __future__ import annotations

import pandas as pd
import pytest

from labkit.plots.draft_promise import draft_promise_figure, draft_promise_info
from labkit.plots.draft_time import draft_time_figure, draft_time_info
from labkit.plots.drafters import look
from labkit.plots.round_lengths import round_lengths_figure, round_lengths_info
from labkit.plots.theme import FAINT, MODES, part_color
from labkit.store.claims import load_claims

PROMISES = pd.DataFrame(
    {"method": ["ngram", "suffix", "draft_model", "eagle3"], "k": [4, 16, 3, 3], "passes": [1.0, 1.0, 4.0, None]}
)
ROUNDS = pd.DataFrame(
    {
        "method": ["ngram", "ngram", "draft_model", "ngram"],
        "by": ["all", "kind", "kind", "kind"],
        "group": ["all", "act", "act", "plan"],
        "n_pairs": [9, 6, 6, 3],
        "length": [3.0, 3.0, 4.0, 2.0],
        "round_passes": [1.5, 1.5, 5.0, None],
        "given_s": [9.0, 6.0, 12.0, 3.0],
        "taken_s": [4.0, 3.0, 20.0, 1.0],
        "too_few": [False, False, True, True],
    }
)
RATES = pd.DataFrame(
    {
        "method": ["ngram", "ngram"], "by": ["all", "kind"], "group": ["all", "act"], "n": [9, 6],
        "length": [2.5, 3.0], "length_low": [2.0, None], "length_high": [3.5, None], "too_few": [False, False],
    }
)  # fmt: skip


def test_drafters_whose_rounds_last_the_same_share_a_line_and_unknown_costs_have_none():
    info = draft_promise_info(PROMISES)
    assert [(line.methods, line.passes, line.longest) for line in info.lines] == [
        (("ngram", "suffix"), 1.0, 17),
        (("draft_model",), 4.0, 4),
    ]
    assert "Not measured." in info.caption.note
    assert "ngram, suffix 1 pass; draft_model 4.00 passes" in info.caption.alt


@pytest.mark.parametrize("mode", MODES)
def test_a_line_ends_at_the_most_that_its_rounds_yield(mode):
    first, second = draft_promise_figure(draft_promise_info(PROMISES), mode).data
    assert (list(first.x), list(first.y)) == ([1, 17], [1, 17])
    assert (list(second.x), list(second.y)) == ([1, 4], [0.25, 1.0])
    assert [first.line.color, second.line.color] == [look(0, mode)[0], look(2, mode)[0]]


def test_measured_rounds_are_marks_beside_the_lines_one_a_kind():
    info = draft_promise_info(PROMISES, ROUNDS)
    assert [(dot.method, dot.group, dot.length, dot.gain, dot.n) for dot in info.dots] == [
        ("ngram", "act", 3.0, 2.0, 6),
        ("draft_model", "act", 4.0, 0.8, 6),
    ]
    assert info.caption.title == "Did rounds keep what the formula promises?"
    assert "n = 12 pairs" in info.caption.note
    marks = [trace for trace in draft_promise_figure(info).data if trace.mode == "markers"]
    assert [(mark.x[0], mark.y[0], mark.marker.opacity) for mark in marks] == [(3.0, 2.0, 1.0), (4.0, 0.8, FAINT)]


def test_nothing_measured_and_nothing_known_are_sentences():
    assert "labkit run speculation" in draft_promise_info(PROMISES, ROUNDS[:0]).caption.empty
    assert "measure it" in draft_promise_info(PROMISES[3:]).caption.empty
    for figure in (draft_promise_figure(draft_promise_info(PROMISES, ROUNDS[:0])),
                   draft_time_figure(draft_time_info(ROUNDS[:0])),
                   round_lengths_figure(round_lengths_info(RATES[:0], load_claims()))):  # fmt: skip
        assert not figure.data
        assert figure.layout.annotations


@pytest.mark.parametrize("mode", MODES)
def test_given_stands_beside_taken_by_drafter_and_kind(mode):
    info = draft_time_info(ROUNDS)
    assert [(bar.method, bar.kind, bar.given_s, bar.taken_s, bar.n) for bar in info.bars] == [
        ("ngram", "plan", 3.0, 1.0, 3),
        ("ngram", "act", 6.0, 3.0, 6),
        ("draft_model", "act", 12.0, 20.0, 6),
    ]
    assert "15 pairs" in info.caption.note
    assert "draft_model act gave 12.0 s, took 20.0 s" in info.caption.alt
    given, taken = draft_time_figure(info, mode).data
    assert (list(given.y), list(taken.y)) == ([3.0, 6.0, 12.0], [1.0, 3.0, 20.0])
    assert given.marker.color == part_color("accepted", mode)
    assert taken.marker.color == part_color("computed", mode)


@pytest.mark.parametrize("mode", MODES)
def test_lengths_are_filled_when_measured_and_hollow_when_claimed(mode):
    claims = load_claims()
    info = round_lengths_info(RATES, claims)
    first, *rest = info.marks
    assert (first.row, first.length, first.low, first.high, first.claimed) == ("ngram, measured", 2.5, 2.0, 3.5, False)
    published = claims[(claims["metric"] == "acceptance_length") & claims["value"].notna()]
    assert len(rest) == len(published) > 0
    assert sorted(mark.length for mark in rest) == [mark.length for mark in rest] == sorted(published["value"])
    assert f"{len(published)} published claims" in info.caption.note
    filled, *hollow = round_lengths_figure(info, mode).data
    assert not filled.marker.symbol.endswith("-open")
    assert (list(filled.error_x.array), list(filled.error_x.arrayminus)) == ([1.0], [0.5])
    assert all(trace.marker.symbol.endswith("-open") for trace in hollow)
    ranged = [list(trace.x) for trace, mark in zip(hollow, rest, strict=True) if mark.low is not None]
    assert [2.01, 3.32] in ranged
