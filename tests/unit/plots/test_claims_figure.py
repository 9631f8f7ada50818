"""Measured gains with claims beside them, and the cost of a task."""

import pandas as pd
import plotly.graph_objects as go
import pytest
from synthetic import failed, frame, steps

from labkit.analysis.cost import cost_table
from labkit.plots.claims import add_claims, gains_figure, gains_info
from labkit.plots.cost import cost_figure, cost_info
from labkit.plots.theme import MODES, Mode, arm_color
from labkit.store.claims import load_claims
from labkit.store.prices import load_prices

CLAIM = {"layer": "speculation", "metric": "e2e_s", "unit": "x", "value": 3.0, "low": None, "high": None,
         "source": "A", "hardware": "H", "load": "", "model": "M", "statement": "Fast.", "date": "2026",
         "caution": "Once."}  # fmt: skip


def gains(*rows: tuple[str, float | None], metric: str = "e2e_s") -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"arm": arm, "metric": metric, "gain": gain, "low": gain and gain / 2, "high": gain and gain * 2,
             "verdict": "better"}
            for arm, gain in rows
        ]
    )  # fmt: skip


def claims(*changes: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([{**CLAIM, **change} for change in changes])


def test_claims_follow_the_arm_of_their_layer() -> None:
    known = claims({}, {"source": "B", "layer": "prefix_caching"}, {"source": "C", "value": 2.0})
    info = gains_info(gains(("all", 2.0), ("prefix", 1.5), ("spec", 1.2)), known)
    assert [(mark.row, mark.arm, mark.claimed) for mark in info.marks] == [
        ("prefix", "prefix", False), ("B, H", "prefix", True), ("spec", "spec", False), ("C, H", "spec", True),
        ("A, H", "spec", True), ("all", "all", False),
    ]  # fmt: skip
    assert "A, H, claimed: 3.00x" in info.caption.alt
    assert "spec, measured: 1.20x" in info.caption.alt


def test_only_gains_of_one_layer_on_the_same_metric_are_beside() -> None:
    others = claims({"metric": "ttft_s"}, {"unit": "%"}, {"layer": "none"}, {"value": None})
    info = gains_info(gains(("spec", 1.2)), others)
    assert [mark.row for mark in info.marks] == ["spec"]
    assert "No published claim is known on this metric." in info.caption.note


def test_claims_of_one_source_are_told_apart() -> None:
    info = gains_info(gains(("spec", 1.2)), claims({}, {"value": 4.0}, {"value": 5.0, "model": ""}, {"value": 6.0}))
    rows = [mark.row for mark in info.marks]
    assert len(set(rows)) == 5
    assert "A, H, M" in rows


def test_without_a_measurement_there_is_a_sentence_and_no_claim_stands_alone() -> None:
    info = gains_info(gains(("spec", None)), claims({}))
    assert info.caption.empty
    assert not gains_figure(info).data


@pytest.mark.parametrize("mode", MODES)
def test_claims_are_hollow_measurements_filled_and_nothing_joins_them(mode: Mode) -> None:
    known = claims({}, {"value": 5.0, "low": 2.0, "high": 5.0})
    figure = gains_figure(gains_info(gains(("spec", 1.2)), known), mode)
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.marker.symbol.endswith("-open") for trace in marks] == [False, True, True]
    assert {trace.marker.color for trace in marks} == {arm_color("spec", mode)}
    assert list(marks[2].x) == [2.0, 5.0]
    assert all(trace.mode in ("markers", "text") for trace in figure.data)
    assert [trace.error_x.array is None for trace in marks] == [False, True, True]
    assert "Once." in marks[1].hovertext


def test_claims_can_be_laid_into_another_figure() -> None:
    figure = add_claims(go.Figure(), load_claims(), "ttft_s")
    rows = {row for trace in figure.data for row in trace.y}
    assert "vLLM blog, Mooncake store, 12 x GB200" in rows


@pytest.mark.parametrize("mode", MODES)
def test_the_cost_of_a_task_is_a_bar_with_its_price_in_the_note(mode: Mode) -> None:
    sent = frame([*steps(("base", "spec")), failed("base", 5)])
    info = cost_info(cost_table(sent, load_prices()), "laptop-cpu")
    assert [bar.arm for bar in info.bars] == ["base", "spec"]
    assert info.bars[0].usd_per_task > info.bars[1].usd_per_task
    assert "solved: not checked" in info.bars[0].label
    assert "$0.185 an hour for the whole machine (laptop-cpu), 1 at a time." in info.caption.note
    assert len(cost_figure(info, mode).data) == 1


def test_a_cost_of_nothing_is_a_sentence() -> None:
    assert not cost_figure(cost_info(cost_table(frame(steps()), load_prices()), "no such price")).data
