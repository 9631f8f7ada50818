"""Figures of load: the numbers that they draw, and that they draw in both modes."""

from __future__ import annotations

import pandas as pd
import pytest
from builders import a_step, chunks_at, frame_of

from labkit.analysis.capacity import CapacityRow
from labkit.analysis.goodput import GoodputRow
from labkit.analysis.load_row import LoadRow
from labkit.analysis.slo import Slo
from labkit.analysis.tables import typed_frame
from labkit.core.records import ChunkRecord, StepRecord
from labkit.plots.capacity import capacity_figure, capacity_info
from labkit.plots.interference import timeline_figure, timeline_info
from labkit.plots.load_lines import load_figure, load_info
from labkit.plots.theme import MODES


def load_row(arm: str, agents: int, **values: object) -> LoadRow:
    known: dict[str, object] = {
        "arm": arm, "agents": agents, "n_windows": 1, "n_agent_runs": 6, "n_sent": 30, "n_failed": 0,
        "in_flight": float(agents), "n_gaps": 900, "n_stalls": 0, "lost_s": 0.0, "too_few": False,
    }  # fmt: skip
    return LoadRow.from_dict({**known, **values})


class TestLines:
    rows = typed_frame(
        LoadRow,
        [
            load_row("prefix+pd", 1, ttft_p50_s=1.5),
            load_row("prefix", 2, ttft_p50_s=0.8, ttft_low_s=0.6, ttft_high_s=1.1, n_agent_runs=9),
            load_row("prefix", 1, ttft_p50_s=0.4),
        ],
    )

    def test_numbers(self):
        info = load_info(self.rows, "ttft")
        assert [(line.arm, line.agents, line.values) for line in info.lines] == [
            ("prefix", (1, 2), (0.4, 0.8)),
            ("prefix+pd", (1,), (1.5,)),
        ]
        assert (info.lines[0].lows, info.lines[0].highs) == ((None, 0.6), (None, 1.1))
        assert "6 to 9 agent-runs" in info.caption.note
        assert "prefix: 0.4 with 1, 0.8 with 2" in info.caption.alt

    def test_drawing(self):
        figure = load_figure(load_info(self.rows, "ttft"))
        assert figure.data[0].error_y.array[1] == pytest.approx(0.3)
        assert figure.data[0].error_y.arrayminus[1] == pytest.approx(0.2)

    @pytest.mark.parametrize("mode", MODES)
    def test_what_was_not_measured_is_a_sentence(self, mode):
        info = load_info(self.rows, "itl")
        assert "labkit run interference" in info.caption.empty
        assert not load_figure(info, mode).data


def moment() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Agent 1's prompt arrives at 10 s and takes 2 s; agent 0's stream stands still from 10.1 to 12."""
    stream = a_step(condition="agents=2", agent="0", t_send=8.0, t_first_token=8.5, t_last=12.2, t_end=12.2)
    prompt = a_step(condition="agents=2", agent="1.1", t_send=10.0, t_first_token=12.0, t_last=12.5, t_end=12.5)
    short = a_step(condition="agents=2", agent="1", t_send=8.6, t_first_token=8.7, t_last=8.8, t_end=8.8)
    chunks = [*chunks_at(stream, 8.5, 9.5, 9.8, 10.1, 12.0, 12.2), *chunks_at(prompt, 12.0, 12.5)]
    return frame_of([stream, prompt, short]), frame_of(chunks, ChunkRecord)


class TestTimeline:
    def test_the_longest_wait_within_a_stream_is_shown_with_the_stall_that_it_made(self):
        info = timeline_info(*moment(), {"base": 0.05}, 2)
        arriving, stream = info.lanes
        assert (arriving.agent, arriving.arrives, stream.agent) == ("1", True, "0")
        assert arriving.waits == (pytest.approx((0.0, 2.0)),)
        assert stream.stalls[-1] == pytest.approx((0.1, 2.0))
        assert stream.chunks == pytest.approx((-0.5, -0.2, 0.1, 2.0, 2.2))
        assert info.span == pytest.approx((-1.0, 3.0))

    @pytest.mark.parametrize("mode", MODES)
    def test_it_draws(self, mode):
        figure = timeline_figure(timeline_info(*moment(), {"base": 0.05}, 2), mode)
        assert {trace.name for trace in figure.data} == {
            "waits for its first token", "stands still (stall)", "a chunk came",
        }  # fmt: skip

    def test_without_a_moment_it_says_so(self):
        info = timeline_info(frame_of([], StepRecord), frame_of([], ChunkRecord), {}, 2)
        assert info.caption.empty
        assert not timeline_figure(info).data


def level(agents: int, good: int) -> GoodputRow:
    return GoodputRow(
        arm="base", agents=agents, n_windows=1, n_agent_runs=3, n_sent=20, n_failed=0, n_good=good,
        attainment=good / 20, low=good / 25, high=1.0, sent_per_s=1.0, good_per_s=1.0, holds=good >= 18,
    )  # fmt: skip


class TestCapacity:
    slo = Slo(ttft_s=3, itl_s=0.5)
    levels = typed_frame(GoodputRow, [level(2, 5), level(1, 20)])

    def found(self, **values: object) -> pd.DataFrame:
        known: dict[str, object] = {
            "arm": "base", "agents": 1, "low": 0, "high": 1, "most_tried": 2, "at_least": False, "n_levels": 2,
            "n_sent": 40, "too_few": False, "method": "m",
        }  # fmt: skip
        return typed_frame(CapacityRow, [CapacityRow.from_dict({**known, **values})])

    def test_numbers(self):
        (curve,) = capacity_info(self.levels, self.found(), self.slo).curves
        assert (curve.agents, curve.attainment) == ((1, 2), (1.0, 0.25))
        assert curve.words == "base: 1 agent (95 %: 0 to 1)"

    @pytest.mark.parametrize("mode", MODES)
    def test_an_open_end_runs_out_of_the_figure(self, mode):
        info = capacity_info(self.levels, self.found(agents=2, low=1, high=None, at_least=True), self.slo)
        figure = capacity_figure(info, mode)
        assert figure.data[1].x == (1, 2.6)
        assert info.curves[0].words == "base: 2 or more agents (95 %: 1 to more than 2)"

    @pytest.mark.parametrize(
        ("values", "words"),
        [
            ({"agents": 0, "low": 0, "high": 0}, "not even 1 agent"),
            ({"agents": 3, "low": 3, "high": 3}, "3 agents"),
            ({"agents": 1, "low": 1, "high": 1, "too_few": True}, "1 agent; too few requests to tell"),
        ],
    )
    def test_words(self, values, words):
        (curve,) = capacity_info(self.levels, self.found(**values), self.slo).curves
        assert curve.words == f"base: {words}"

    def test_nothing_measured(self):
        info = capacity_info(typed_frame(GoodputRow, []), typed_frame(CapacityRow, []), self.slo)
        assert "labkit run capacity" in info.caption.empty
        assert not capacity_figure(info).data
