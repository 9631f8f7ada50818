"""Figures of effects: what they show of planted gains, and of what is missing."""

import json

import numpy as np
import pandas as pd
import pytest
from builders import frame_of
from planted import ALL, GAINS, planted, seconds

from labkit.analysis.effects import arm_gains, effects
from labkit.analysis.scenarios import REAL
from labkit.analysis.simulation import CHOSEN, calibration
from labkit.core.records import ChunkRecord
from labkit.plots.calibration import calibration_figure, calibration_info
from labkit.plots.forest import forest_figure, forest_info
from labkit.plots.interactions import interactions_figure, interactions_info
from labkit.plots.log_axis import gain_ticks
from labkit.plots.theme import FAINT, MODES, arm_color, arm_marker

NONE = frame_of([], ChunkRecord)


def noisy(arms=ALL, tasks=5):
    dice = np.random.default_rng(1)
    return frame_of(planted(arms=arms, tasks=tasks, noise=lambda: dice.normal(0, 0.1)))


@pytest.fixture(scope="module")
def terms():
    return effects(noisy(), NONE)


@pytest.fixture(scope="module")
def arms():
    return arm_gains(noisy(), NONE)


@pytest.fixture(scope="module")
def simulated():
    return calibration([REAL], [5, 10], experiments=20)


def test_the_forest_has_a_panel_for_each_metric_with_a_gain(terms):
    info = forest_info(terms)
    assert [panel.metric for panel in info.panels] == ["e2e_s", "ttft_s", "tokens_per_s", "prompt_computed"]
    prefix = info.panels[0].marks[0]
    assert (prefix.label, prefix.told) == ("prefix", True)
    assert prefix.low < GAINS["prefix_caching"] < prefix.high
    assert info.panels[0].marks[4].label == "prefix × spec"
    assert "5 tasks, 10 requests, 2 repeats" in info.caption.note
    assert "prefix 1.99 [1.88, 2.10] (better)" in info.caption.alt


def test_the_forest_is_faint_without_a_verdict_and_a_dash_without_a_gain():
    info = forest_info(effects(noisy(arms=("base", "prefix", "spec", "prefix+spec"), tasks=3), NONE), ["e2e_s"])
    marks = {mark.label: mark for mark in info.panels[0].marks}
    assert not marks["prefix"].told
    assert (marks["pd"].gain, marks["pd"].text) == (None, "–")
    figure = forest_figure(info)
    by_y = {trace.y[0]: trace for trace in figure.data if trace.mode == "markers"}
    assert by_y["prefix"].opacity == FAINT
    assert not by_y["prefix"].marker.symbol.endswith("-open")
    assert by_y["pd"].x == (None,)


def test_the_forest_has_a_log_axis_with_1_marked(terms):
    figure = forest_figure(forest_info(terms, ["e2e_s"]))
    assert figure.layout.xaxis.type == "log"
    assert 1 in figure.layout.xaxis.tickvals
    assert [(shape.x0, shape.x1) for shape in figure.layout.shapes] == [(1, 1)]


def test_a_forest_of_arms_has_their_colours(arms):
    info = forest_info(arms, ["e2e_s"])
    assert info.caption.title.startswith("What does an arm gain over base")
    colors = {trace.y[0]: trace.marker.color for trace in forest_figure(info).data if trace.mode == "markers"}
    assert colors == {arm: arm_color(arm) for arm in ALL[1:]}


def test_a_layer_has_the_look_of_the_arm_that_has_it_alone(terms):
    figure = forest_figure(forest_info(terms, ["e2e_s"]), "dark")
    looks = {trace.y[0]: (trace.marker.color, trace.marker.symbol) for trace in figure.data if trace.mode == "markers"}
    for layer, arm in (("prefix", "prefix"), ("spec", "spec"), ("prefix × spec", "prefix+spec")):
        assert looks[layer] == (arm_color(arm, "dark"), arm_marker(arm))
    assert {trace.opacity for trace in figure.data if trace.y[0] == "prefix"} == {1.0}


def test_the_combination_stands_beside_the_product_of_the_single_gains():
    info = interactions_info(arm_gains(frame_of(planted()), NONE))
    assert [(panel.first, panel.second) for panel in info.panels] == [
        ("prefix", "pd"),
        ("prefix", "spec"),
        ("pd", "spec"),
    ]
    panel = info.panels[1]
    single = seconds("base") ** 2 / seconds("prefix") / seconds("spec")
    assert panel.product == pytest.approx(single)
    assert panel.corners[3].gain == pytest.approx(seconds("base") / seconds("prefix+spec"))
    figure = interactions_figure(info)
    products = [trace.y[0] for trace in figure.data if trace.name == "product"]
    assert products == pytest.approx([panel.product for panel in info.panels])


def test_a_pair_without_its_combination_claims_none():
    info = interactions_info(arm_gains(noisy(arms=("base", "prefix", "spec")), NONE))
    assert [panel.title for panel in info.panels] == ["prefix × pd", "prefix × spec", "pd × spec"]
    assert info.panels[0].product is None
    assert all("not measured" in panel.words for panel in info.panels)


def test_calibration_shows_each_world_and_each_method(simulated):
    coverage = calibration_info(simulated, "coverage", method=CHOSEN)
    assert (coverage.labels, [dots.tasks for dots in coverage.dots]) == (("as measured",), [5, 10])
    row = simulated[(simulated["method"] == CHOSEN) & (simulated["tasks"] == 10)].iloc[0]
    assert coverage.dots[1].shares == (row["coverage"],)
    methods = calibration_info(simulated, "false_positives", scenario="as measured")
    assert methods.labels[0] == CHOSEN
    assert len(methods.labels) == 5


@pytest.mark.parametrize("mode", MODES)
def test_every_figure_has_a_question_an_n_and_an_alt_text(terms, arms, simulated, mode):
    for info, draw in (
        (forest_info(terms), forest_figure),
        (forest_info(arms), forest_figure),
        (interactions_info(arms), interactions_figure),
        (calibration_info(simulated, "coverage", method=CHOSEN), calibration_figure),
        (calibration_info(simulated, "false_positives", scenario="as measured"), calibration_figure),
    ):
        assert info.caption.title.endswith("?")
        assert any(char.isdigit() for char in info.caption.note)
        assert info.caption.alt
        assert json.loads(draw(info, mode).to_json())["data"]


def test_every_figure_without_data_is_a_sentence(terms, arms, simulated):
    empty: list[tuple[object, object]] = [
        (forest_info(terms.head(0)), forest_figure),
        (interactions_info(arms.head(0)), interactions_figure),
        (calibration_info(simulated.head(0), "coverage", method=CHOSEN), calibration_figure),
    ]
    for info, draw in empty:
        assert len(draw(info).data) == 0
        assert info.caption.empty.endswith(".")


@pytest.mark.parametrize("values", [[1.01, 0.99], [0.8, 2.5], [0.1, 40.0], [1.0], pd.Series([3.0]).tolist()])
def test_ticks_are_round_few_and_hold_1(values):
    ticks, words, (low, high) = gain_ticks(values)
    assert 1 in ticks
    assert len(ticks) == len(words) <= 12
    assert low < np.log10(min(values)) <= np.log10(max(values)) < high


def test_no_axis_of_a_forest_is_told_to_match_itself(terms):
    drawn = forest_figure(forest_info(terms, ["e2e_s", "ttft_s"]))
    assert (drawn.layout.xaxis.matches, drawn.layout.xaxis2.matches) == (None, "x")
