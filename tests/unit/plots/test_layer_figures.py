"""The figures of the Layers page: the numbers behind each, and that what is drawn is what they say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from synthetic import failed, frame, step, steps

from labkit.plots.draft_gain import GROUPS, MOST, draft_gain_figure, draft_gain_info
from labkit.plots.drafted import drafted_figure, drafted_info
from labkit.plots.drafters import look
from labkit.plots.hit_rates import hit_rates_figure, hit_rates_info
from labkit.plots.positions import positions_figure, positions_info
from labkit.plots.theme import MODES, arm_color
from labkit.plots.transfers import transfers_figure, transfers_info
from labkit.plots.twin_lines import twin_lines_figure, twin_lines_info

PAIRS = pd.DataFrame(
    {"turn": [1, 1, 1, 2], "prefill_s": [0.2, 0.4, 0.9, 0.1], "prefill_s_without": [1.0, 2.0, 6.0, 3.0]}
)
POSITIONS = pd.DataFrame(
    {"method": ["ngram", "suffix", "ngram"], "position": [1, 1, 2], "drafts": [10, 4, 10], "rate": [0.9, 1.0, 0.4]}
)
GAINS = pd.DataFrame(
    {"method": ["ngram"] * 2 + ["suffix"], "rate": [0.1, 0.9, 1.0], "gain": [0.5, 2.0, 3.0], "kind": "act",
     "turn": [1, 2, 1], "task": "t", "repeat": 0}
)  # fmt: skip


def moves(n: int, **more: object) -> pd.DataFrame:
    """`n` transfers of 1, 2, ... MB at 100 MB/s."""
    size = np.arange(1, n + 1)
    return pd.DataFrame({"turn": 1, "tokens": size * 1e3, "bytes": size * 1e6, "seconds": size / 100, **more})


@pytest.mark.parametrize("mode", MODES)
def test_hit_rates_stand_beside_their_ceilings(mode):
    info = hit_rates_info(frame([*steps(("base", "prefix"), turns=5), failed("prefix", 6)]))
    assert [(row.arm, row.rate, row.n) for row in info.rows] == [("base", 0, 5), ("prefix", pytest.approx(0.7104), 5)]
    assert info.rows[0].ceiling == info.rows[1].ceiling == pytest.approx(0.7104)
    assert "prefix: 71 % of 71 %" in info.caption.alt
    bars, marks = hit_rates_figure(info, mode).data
    assert list(bars.marker.color) == [arm_color("base", mode), arm_color("prefix", mode)]
    assert list(marks.x) == pytest.approx([0.7104, 0.7104])


def test_an_arm_that_told_no_cached_tokens_has_a_dash_and_no_bar():
    info = hit_rates_info(frame([step("base", 2), step("prefix", 2, cached_tokens=None)]))
    assert info.rows[1].rate is None
    assert info.rows[1].label == "– of 75 %"
    nothing = hit_rates_info(frame([step("prefix", 2, cached_tokens=None)]))
    assert "No arm has told" in nothing.caption.empty
    assert not hit_rates_figure(nothing).data


@pytest.mark.parametrize("mode", MODES)
def test_twins_are_drawn_as_medians_of_the_same_pairs(mode):
    info = twin_lines_info(PAIRS, "prefix", "base", "prefill")
    assert (info.turns, info.with_s, info.without_s, info.n) == ((1, 2), (0.4, 0.1), (2.0, 3.0), 4)
    assert "n = 4 pairs" in info.caption.note
    assert "first turn 400 ms against 2.00 s, last turn 100 ms against 3.00 s" in info.caption.alt
    base, prefix = twin_lines_figure(info, mode).data
    assert (base.name, base.line.color) == ("base", arm_color("base", mode))
    assert (prefix.name, list(prefix.y)) == ("prefix", [0.4, 0.1])


@pytest.mark.parametrize("measure", ["prefill", "ttft", "itl", "decode"])
def test_without_a_pair_twins_are_a_sentence(measure):
    info = twin_lines_info(pd.DataFrame(), "all", "pd+spec", measure)
    assert info.caption.empty == "No request has this measured both under all and under pd+spec."
    assert not twin_lines_figure(info).data


def test_a_pair_that_lacks_a_side_is_in_neither_line():
    info = twin_lines_info(PAIRS.assign(prefill_s=[0.2, np.nan, 0.9, np.nan]), "prefix", "base", "prefill")
    assert (info.turns, info.with_s, info.without_s, info.n) == ((1,), (0.55,), (3.5,), 2)


@pytest.mark.parametrize("mode", MODES)
def test_transfers_are_dots_of_size_and_time_with_the_mean_rate(mode):
    info = transfers_info(moves(3), "pd")
    assert (info.sizes, info.ms, info.rate, info.grouped) == ((1, 2, 3), (10, 20, 30), pytest.approx(100), False)
    assert "median 2.00 MB in 20.0 ms, 100 MB/s over all; 3 steps" in info.caption.alt
    line, dots = transfers_figure(info, mode).data
    assert list(line.y) == pytest.approx([0, 30])
    assert dots.marker.color == arm_color("pd", mode)


def test_bytes_that_are_not_known_are_shown_as_tokens():
    info = transfers_info(moves(2, bytes=np.nan), "pd")
    assert (info.unit, info.sizes, info.rate) == ("tokens", (1000, 2000), None)
    assert len(transfers_figure(info).data) == 1


def test_very_many_transfers_are_drawn_as_medians_of_groups():
    info = transfers_info(moves(MOST * 10), "pd")
    assert info.grouped
    assert len(info.sizes) == 60
    assert info.n == 6000
    assert info.sizes[0] == pytest.approx(50.5)  # median of the first hundred


@pytest.mark.parametrize("mode", MODES)
def test_positions_are_bars_a_drafter(mode):
    info = positions_info(POSITIONS)
    assert [(line.method, line.rates, line.drafts) for line in info.lines] == [
        ("ngram", (0.9, 0.4), 10),
        ("suffix", (1.0,), 4),
    ]
    assert "ngram: 90 %, 40 %; suffix: 100 %" in info.caption.alt
    assert [bar.name for bar in positions_figure(info, mode).data] == ["ngram", "suffix"]


@pytest.mark.parametrize("mode", MODES)
def test_a_drafter_that_is_alone_has_the_colour_of_its_arm(mode):
    info = positions_info(POSITIONS[POSITIONS["method"] == "ngram"], "spec")
    assert positions_figure(info, mode).data[0].marker.color == arm_color("spec", mode)
    assert positions_info(POSITIONS, "spec").arm == ""
    assert look(0, mode, "spec")[0] != look(0, mode)[0]


@pytest.mark.parametrize("mode", MODES)
def test_steps_that_lost_are_crossed_out(mode):
    info = draft_gain_info(GAINS)
    assert [(dots.method, dots.n, dots.n_lost) for dots in info.drafters] == [("ngram", 2, 1), ("suffix", 1, 0)]
    assert info.drafters[0].told[0] == "t, turn 1 (act): 0.50x at 10% acceptance"
    assert "Drafts cost time: ngram in 1 of 2 steps; suffix in 0 of 1 step." in info.caption.alt
    ngram, suffix = draft_gain_figure(info, mode).data
    assert [symbol == "x" for symbol in ngram.marker.symbol] == [True, False]
    assert "x" not in suffix.marker.symbol
    assert not any(symbol.endswith("-open") for symbol in (*ngram.marker.symbol, *suffix.marker.symbol))


def test_very_many_steps_are_drawn_as_medians_of_groups():
    n = MOST * 10
    many = pd.DataFrame({"method": "ngram", "rate": np.linspace(0, 1, n), "gain": np.linspace(0.5, 2.5, n)})
    (dots,) = draft_gain_info(many.assign(kind="act", turn=1, task="t", repeat=0)).drafters
    assert (len(dots.rates), dots.n, dots.grouped) == (GROUPS, n, True)
    assert dots.n_lost == int((many["gain"] < 1).sum())
    assert dots.told[0].startswith("median of 100 steps: 0.5")


@pytest.mark.parametrize("mode", MODES)
def test_drafts_are_stacked_by_turn_with_their_share(mode):
    info = drafted_info(frame([step("spec", 1), step("spec", 1, repeat=1, accepted_tokens=10), step("spec", 2)]))
    assert (info.turns, info.accepted, info.refused, info.n) == ((1, 2), (20, 30), (20, 10), 3)
    assert info.rates == [0.5, 0.75]
    assert "70 of 120 drafted tokens accepted; 3 steps" in info.caption.note
    figure = drafted_figure(info, mode)
    assert [trace.name for trace in figure.data] == ["accepted", "drafted in vain", "whole reply"]
    assert list(figure.layout.xaxis.ticktext) == ["1<br>50 %", "2<br>75 %"]


@pytest.mark.parametrize(
    ("info", "draw"),
    [
        (drafted_info(frame(steps(("base",)))), drafted_figure),
        (draft_gain_info(GAINS.iloc[:0]), draft_gain_figure),
        (positions_info(POSITIONS.iloc[:0]), positions_figure),
        (transfers_info(moves(0), "pd"), transfers_figure),
    ],
)
def test_nothing_measured_is_a_sentence(info, draw):
    assert info.caption.empty
    assert not draw(info).data
