"""The numbers behind the two figures, and that what is drawn is what they say."""

import pandas as pd
import pytest

from labkit.plots.drafters import drafters_figure, drafters_info
from labkit.plots.growth import growth_figure, growth_info
from labkit.plots.theme import FAINT, MODES

GROWTH = pd.DataFrame(
    {
        "arm": ["base", "base", "prefix", "prefix", "pd"],
        "steps": [2, 8, 2, 8, 2],
        "n_passes": [3, 3, 3, 1, 0],
        "prompt_computed": [300.0, 3600.0, 200.0, 800.0, None],
        "e2e_s": [3.0, 36.0, 2.0, 8.0, None],
    }
)
EXPONENTS = pd.DataFrame(
    {
        "arm": ["base", "prefix"],
        "measure": ["prompt_computed"] * 2,
        "exponent": [1.79, 1.0],
        "verdict": ["faster than the steps", "too few to tell"],
    }
)
RATES = pd.DataFrame(
    {
        "method": ["ngram"] * 3 + ["suffix"] * 2,
        "by": ["all", "kind", "kind", "kind", "kind"],
        "group": ["all", "act", "answer", "plan", "act"],
        "n": [9, 6, 3, 1, 6],
        "rate": [0.5, 0.75, 0.25, 0.0, 0.9],
        "rate_low": [0.4, 0.7, None, None, 0.8],
        "rate_high": [0.6, 0.8, None, None, 1.0],
        "too_few": [False, False, True, True, False],
    }
)
GAINS = RATES.rename(columns={"n": "n_pairs", "rate": "gain", "rate_low": "low", "rate_high": "high"})


def test_growth_has_a_line_per_arm_that_has_a_whole_pass_and_a_guide_from_the_first():
    info = growth_info(GROWTH, EXPONENTS)
    assert [(line.arm, line.values, line.n_passes) for line in info.lines] == [
        ("base", (300.0, 3600.0), 3),
        ("prefix", (200.0, 800.0), 1),
    ]
    assert info.guide == (300.0, 1200.0)
    assert "base 1.79, prefix 1.00" in info.caption.note
    assert "Too few passes for an interval. Mean of 1 pass per point" in info.caption.note
    assert "(base: faster than the steps; prefix: too few to tell)" in info.caption.alt
    seconds = growth_info(GROWTH, EXPONENTS, "e2e_s")
    assert seconds.lines[0].values == (3.0, 36.0)
    assert seconds.lines[0].exponent is None


@pytest.mark.parametrize("mode", MODES)
def test_growth_is_drawn_on_log_axes_with_a_tick_for_each_count(mode):
    figure = growth_figure(growth_info(GROWTH, EXPONENTS), mode)
    assert [trace.name for trace in figure.data] == ["in step with the steps", "base", "prefix"]
    assert list(figure.data[1].y) == [300.0, 3600.0]
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    assert list(figure.layout.xaxis.tickvals) == [2, 8]


def test_nothing_to_draw_is_said_in_a_sentence():
    empty = growth_info(GROWTH[GROWTH["arm"] == "pd"], EXPONENTS)
    assert "labkit run steps" in empty.caption.empty
    assert not growth_figure(empty).data
    none = drafters_info(RATES, by="turn")
    assert "labkit run speculation" in none.caption.empty
    assert not drafters_figure(none).data


def test_points_keep_the_order_of_kinds_and_say_where_there_are_too_few():
    info = drafters_info(RATES)
    assert info.groups == ("plan", "act", "answer")
    assert info.methods == ("ngram", "suffix")
    assert [(p.method, p.group, p.value, p.low, p.n) for p in info.points][:2] == [
        ("ngram", "act", 0.75, 0.7, 6),
        ("ngram", "answer", 0.25, None, 3),
    ]
    assert "Faint: too few steps to tell" in info.caption.note
    assert "suffix, act: 90 % [80 %, 100 %], 6 steps" in info.caption.alt


@pytest.mark.parametrize("mode", MODES)
def test_drafters_stand_side_by_side_with_bars_and_faint_marks(mode):
    figure = drafters_figure(drafters_info(RATES), mode)
    ngram, few, _, suffix = figure.data
    assert (ngram.marker.symbol, ngram.marker.opacity) == ("diamond", 1.0)
    assert (few.marker.symbol, few.marker.opacity) == ("diamond", FAINT)
    assert list(ngram.error_y.array) == pytest.approx([0.05])
    assert not few.error_y.visible
    assert not few.showlegend
    assert {round(x) for x in (*ngram.x, *suffix.x)} <= {0, 1, 2}


def test_gains_are_drawn_around_one():
    figure = drafters_figure(drafters_info(GAINS, "gain"))
    assert figure.layout.yaxis.type == "log"
    assert figure.layout.shapes[0].y0 == 1
