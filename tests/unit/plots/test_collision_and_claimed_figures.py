"""Prompts beside streams, and claims beside nothing: the numbers that are drawn, in both modes."""

from __future__ import annotations

import pandas as pd
import pytest

from labkit.analysis.collisions import CollisionRow
from labkit.analysis.tables import typed_frame
from labkit.plots.claimed import claimed_figure, claimed_info
from labkit.plots.collisions import collisions_figure, collisions_info
from labkit.plots.theme import MODES
from labkit.store.claims import load_claims


def met(*rows: tuple[str, int, float]) -> pd.DataFrame:
    return typed_frame(
        CollisionRow,
        [
            CollisionRow(arm=arm, agents=2, agent="1", turn=1, tokens=n, wait_s=1, stream="0", gap_s=gap, usual_s=0.1)
            for arm, n, gap in rows
        ],
    )


class TestCollisions:
    rows = met(("prefix+pd", 600, 0.3), ("prefix", 600, 1.6), ("prefix", 60, 0.3))

    def test_numbers(self):
        info = collisions_info(self.rows, {"prefix": 400.0})
        plain, split = info.arms
        assert (plain.arm, plain.tokens, plain.gaps_s) == ("prefix", (600, 60), (1.6, 0.3))
        assert plain.promised(600) == pytest.approx(1.6)
        assert split.promised(600) is None
        assert "n = 2 under prefix, 1 under prefix+pd" in info.caption.note
        assert "400 tokens/s" in info.caption.note
        assert "prefix: 2 dots, a gap of 1.60 s beside 600 new tokens" in info.caption.alt

    @pytest.mark.parametrize("mode", MODES)
    def test_drawing(self, mode):
        figure = collisions_figure(collisions_info(self.rows, {"prefix": 400.0}), mode)
        assert [trace.name for trace in figure.data] == ["prefix, predicted", "prefix", "prefix+pd"]
        assert list(figure.data[0].y) == pytest.approx([0.1, 1.6])

    @pytest.mark.parametrize("mode", MODES)
    def test_nothing_met(self, mode):
        info = collisions_info(met(), {})
        assert "labkit run interference" in info.caption.empty
        assert not collisions_figure(info, mode).data


class TestClaimed:
    claims = load_claims()
    attained = claims[claims["metric"] == "slo_attainment"]

    def test_every_claim_is_a_mark_with_its_source(self):
        info = claimed_info(self.attained, "How many?")
        assert sorted(mark.value for mark in info.marks) == [26, 30, 70, 73]
        assert info.unit == "%"
        assert "4 claims of vLLM blog, MoRI-IO 2026-04-07, on 8 x MI300X, one node" in info.caption.note
        assert all("no intervals" in mark.text for mark in info.marks)

    @pytest.mark.parametrize("mode", MODES)
    def test_all_marks_are_hollow(self, mode):
        figure = claimed_figure(claimed_info(self.attained, "How many?"), mode)
        assert len(figure.data) == 4
        assert {trace.marker.symbol for trace in figure.data} == {"diamond-open"}

    def test_a_claim_without_a_number_is_not_drawn(self):
        info = claimed_info(self.claims[self.claims["id"] == "moriio-ttft-worse"], "Worse?")
        assert info.caption.empty
        assert not claimed_figure(info).data
