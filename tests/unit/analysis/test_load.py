"""Concurrency, stalls, goodput and capacity on made-up rows whose numbers can be counted by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from builders import a_step, chunks_at, frame_of
from scipy import stats

from labkit.analysis.agent_runs import MIN_RUNS, interval
from labkit.analysis.attainment import Attained, attained, design_effect
from labkit.analysis.capacity import capacity, read_off
from labkit.analysis.concurrency import WindowRow, concurrency, mean_in_flight, seconds_at, windows
from labkit.analysis.goodput import good, goodput
from labkit.analysis.interference import interference
from labkit.analysis.slo import Slo
from labkit.analysis.stalls import alone, gaps, lane, threshold
from labkit.analysis.tables import typed_frame
from labkit.core.errors import BadInput
from labkit.core.records import ChunkRecord, StepRecord


def window(agents: int, start: float = 0.0, end: float = 10.0, arm: str = "base", repeat: int = 0) -> WindowRow:
    return WindowRow(
        arm=arm, condition=f"agents={agents}", repeat=repeat, agents=agents, start=start, end=end, close=end, sent=0,
        cut=0, gaps=False,
    )  # fmt: skip


def spans(*rows: WindowRow) -> pd.DataFrame:
    return typed_frame(WindowRow, rows)


def step(agents: int, agent: str, turn: int, t_send: float, ttft: float, t_end: float, **more: object) -> StepRecord:
    times = {"t_send": t_send, "t_first_token": t_send + ttft, "t_last": t_end, "t_end": t_end, "completion_tokens": 10}
    return a_step(condition=f"agents={agents}", agent=agent, turn=turn, **{**times, **more})


def tables(*streams: tuple[StepRecord, Sequence[float]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    chunks = [chunk for made, times in streams for chunk in chunks_at(made, *times)]
    return frame_of([made for made, _ in streams]), frame_of(chunks, ChunkRecord)


class TestConcurrency:
    def test_seconds_at_each_number(self):
        sent, ended = np.array([-1.0, 2.0, 3.0, 9.0]), np.array([4.0, 5.0, 8.0, np.nan])
        # 0-2: one; 2-3: two; 3-4: three; 4-5: two; 5-8: one; 8-9: none; 9-10: one that never ended
        assert seconds_at(sent, ended, 0.0, 10.0) == {0: 1.0, 1: 6.0, 2: 2.0, 3: 1.0}

    def test_each_window_has_its_own_histogram_and_warm_up_is_load_too(self):
        steps = frame_of(
            [
                step(1, "0", 1, 0.0, 1, 4.0),
                step(2, "0", 1, 20.0, 1, 30.0, warmup=True),
                step(2, "1", 1, 25.0, 1, 35.0),
                step(2, "1", 1, 25.0, 1, 35.0, arm="prefix"),
            ]
        )
        found = concurrency(steps, spans(window(1), window(2, 20.0, 30.0)))
        rows = {(row["condition"], row["in_flight"]): row["seconds"] for row in found.to_dict("records")}
        assert rows == {("agents=1", 0): 6.0, ("agents=1", 1): 4.0, ("agents=2", 1): 5.0, ("agents=2", 2): 5.0}
        assert mean_in_flight(found).to_dict() == {("base", "agents=1"): 0.4, ("base", "agents=2"): 1.5}

    def test_windows_come_from_events(self):
        event = {**window(2).to_dict(), "t": 1.0, "type": "window", "next": 7}
        assert windows([{"type": "other"}, event]).to_dict("records") == spans(window(2)).to_dict("records")


class TestStalls:
    def test_the_threshold_is_three_times_the_usual_gap_and_at_least_a_fifth_of_a_second(self):
        assert threshold(0.05) == 0.2
        assert threshold(0.1) == pytest.approx(0.3)

    def test_a_stall_in_company_of_a_prompt_and_one_without(self):
        steps, chunks = tables(
            (step(1, "0", 1, 0.0, 0.1, 1.0), (0.1, 0.2, 0.3)),
            (step(2, "0", 1, 10.0, 0.1, 13.0), (10.1, 10.2, 11.2, 11.3, 12.3)),  # two stalls of 1 s
            (step(2, "1.1", 1, 10.3, 0.7, 11.05), (11.0, 11.05)),  # waits from 10.3 to 11.0
            (step(2, "0.1", 1, 11.5, 0.5, 12.0), ()),  # the same agent's next recording: not company
        )
        usual = alone(chunks, spans(window(1), window(2, 10, 20)))
        assert usual == {"base": pytest.approx(0.1)}
        found = gaps(steps, chunks, usual)
        stalls = found[found["stall"]]
        assert list(stalls["gap_s"]) == pytest.approx([1.0, 1.0])
        assert list(stalls["lost_s"]) == pytest.approx([0.9, 0.9])
        assert list(stalls["overlapped"]) == [True, False]
        assert list(lane(pd.Series(["2", "2.1", "11.3"]))) == ["2", "2", "11"]

    def test_a_prompt_of_the_ramp_is_in_the_way_too_and_one_of_another_window_is_not(self):
        steps, chunks = tables(
            (step(2, "0", 1, 0.0, 0.1, 3.0), (0.1, 1.1)),
            (step(2, "1", 1, 0.5, 0.5, 1.2, warmup=True), (1.0,)),
            (step(2, "0", 1, 0.0, 0.1, 3.0, repeat=1), (0.1, 1.1)),
            (step(4, "1", 1, 0.5, 0.5, 1.2), (1.0,)),
        )
        found = gaps(steps, chunks, {"base": 0.1}).set_index("repeat")
        assert found["overlapped"].to_dict() == {0: True, 1: False}


class TestInterference:
    def test_a_level_beside_one_agent_alone(self):
        steps, chunks = tables(
            (step(1, "0", 1, 0.0, 0.5, 2.0), (0.5, 0.6, 0.7)),
            (step(2, "0", 1, 20.0, 1.0, 22.0), (21.0, 21.1, 22.0)),
            (step(2, "1", 1, 20.0, 2.0, 23.0), (22.0, 22.1)),
            (step(2, "1", 2, 24.0, 0.1, 25.0, error="HTTP 500"), ()),
        )
        rows = interference(steps, chunks, spans(window(1), window(2, 20.0, 30.0)))
        one, two = rows.to_dict("records")
        assert (one["agents"], two["agents"]) == (1, 2)
        assert (two["n_sent"], two["n_failed"], two["n_agent_runs"]) == (3, 1, 2)
        assert (one["ttft_p50_s"], two["ttft_p50_s"], two["ttft_ratio"]) == (0.5, 1.5, 3.0)
        assert two["n_stalls"] == 1
        assert two["stalls_per_1000"] == pytest.approx(1000 / 20)
        assert two["lost_share"] == pytest.approx(0.8 / 1.1)
        assert (two["stalls_overlapped"], two["gaps_overlapped"]) == (1.0, 0.5)
        assert two["in_flight"] == pytest.approx((2 + 3 + 1) / 10)
        assert two["too_few"]
        assert pd.isna(two["ttft_low_s"])

    def test_tokens_count_where_they_arrive(self):
        made = step(1, "0", 1, -5.0, 1.0, 12.0, warmup=True)
        chunks = frame_of([ChunkRecord.from_dict({**c.to_dict(), "tokens": 3}) for c in chunks_at(made, -1, 2, 4, 11)])
        counted = step(1, "0", 2, 5.0, 1.0, 6.0)
        rows = interference(frame_of([made, counted]), chunks, spans(window(1)))
        assert rows["tokens_per_s"].tolist() == [0.6]

    def test_stalls_of_a_broken_stream_are_not_set_against_the_tokens_of_others(self):
        at = (0.1, 0.2, 0.3, 0.4, 1.4, 2.4)  # two stalls of 1 s, 0.9 s of each lost
        steps, chunks = tables(
            (step(1, "0", 1, 0.0, 0.1, 2.4), at),
            (step(1, "0", 2, 0.0, 0.1, 2.4, error="HTTP 500", completion_tokens=None), at),
            (step(1, "0", 3, 0.0, 0.1, 2.4, completion_tokens=None), at),
        )
        (row,) = interference(steps, chunks, spans(window(1))).to_dict("records")
        assert row["stalls_per_1000"] == pytest.approx(1000 * 2 / 10)  # the stream that told its ten tokens
        assert (row["n_stalls"], row["n_gaps"]) == (4, 15)
        assert row["lost_s"] == pytest.approx(4 * 0.9)
        assert row["lost_share"] == pytest.approx(4 * 0.9 / (2 * 2.3))

    def test_a_window_that_died_with_its_engine_is_in_no_number(self):
        one = (step(2, "0", 1, 20.0, 1.0, 22.0), (21.0, 21.1, 22.0))
        died = (step(2, "1", 1, 40.0, 9.0, 50.0, repeat=1), (49.0, 49.1))
        whole = spans(window(2, 20.0, 30.0))
        with_it, without = (interference(*tables(*each), whole) for each in ((one, died), (one,)))
        pd.testing.assert_frame_equal(with_it, without)

    def test_without_a_window_there_is_no_row(self):
        assert interference(frame_of([], StepRecord), frame_of([], ChunkRecord), spans()).empty


class TestIntervals:
    def test_runs_and_not_requests_are_drawn(self):
        alike = [np.full((100, 1), float(run)) for run in range(6)]  # 600 requests, 6 runs
        found = interval(alike, lambda rows: float(rows.mean()))
        assert found.low is not None
        assert found.high is not None
        assert found.low < 1.5 < 3.5 < found.high

    def test_too_few_runs_have_none(self):
        runs = [np.ones((50, 1))] * (MIN_RUNS - 1)
        assert interval(runs, lambda rows: float(rows.mean())) == (None, None)


OBJECTIVE = Slo(ttft_s=1.0, itl_s=0.3)


class TestGoodput:
    def test_what_is_good(self):
        steps, chunks = tables(
            (step(1, "0", 1, 0.0, 0.9, 2.0), (0.9, 1.1, 1.3)),
            (step(1, "0", 2, 2.0, 1.1, 4.0), (3.1, 3.3)),  # too late
            (step(1, "0", 3, 4.0, 0.5, 6.0), (4.5, 5.5)),  # stands still
            (step(1, "0", 4, 6.0, 0.5, 7.0), (6.5,)),  # one chunk: no gap to be too long
            (step(1, "0", 5, 7.0, 0.5, 8.0, error="HTTP 500"), (7.5,)),
            (step(1, "0", 6, 8.0, 0.5, 9.0, t_first_token=None), ()),
        )
        assert good(steps, chunks, OBJECTIVE).tolist() == [True, False, False, True, False, False]
        (row,) = goodput(steps, chunks, spans(window(1)), OBJECTIVE).to_dict("records")
        assert (row["n_sent"], row["n_failed"], row["n_good"]) == (6, 1, 2)
        assert row["attainment"] == pytest.approx(1 / 3)
        assert (row["sent_per_s"], row["good_per_s"]) == (0.6, 0.2)
        assert not row["holds"]
        assert pd.isna(row["ttft_p90_s"])  # the 90th percentile of what was sent is a request that failed

    def test_rows_and_time_are_of_the_same_windows(self):
        sent = [(step(1, "0", n + 1, float(n), 0.5, n + 0.9), ()) for n in range(5)]
        died = [(step(1, "0", n + 1, 20.0 + n, 0.5, 20.9 + n, repeat=1), ()) for n in range(5)]
        (row,) = goodput(*tables(*sent, *died), spans(window(1)), OBJECTIVE).to_dict("records")
        assert (row["n_windows"], row["n_sent"], row["sent_per_s"], row["good_per_s"]) == (1, 5, 0.5, 0.5)
        (found,) = capacity(*tables(*sent, *died), spans(window(1)), OBJECTIVE).to_dict("records")
        assert (found["n_sent"], found["goodput_per_s"]) == (5, 0.5)

    @pytest.mark.parametrize("wrong", [{"ttft_s": 0.0}, {"itl_s": float("nan")}, {"share": 0.0}, {"share": 1.0}])
    def test_an_objective_that_makes_no_sense(self, wrong: dict[str, float]):
        with pytest.raises(BadInput):
            Slo(**{"ttft_s": 1.0, "itl_s": 1.0, **wrong})


class TestAttainment:
    def test_runs_that_differ_more_than_chance_weigh_less(self):
        sent = np.array([10, 10, 10, 10])
        assert design_effect([(np.array([5, 5, 5, 5]), sent)]) == 1.0
        # all or nothing: a run tells as much as one request; k/(k-1) is the small-sample factor
        assert design_effect([(np.array([10, 10, 0, 0]), sent)]) == pytest.approx(10 * 4 / 3)
        (share,) = attained([(np.array([10, 10, 0, 0]), sent)])
        assert (share.share, share.weight) == (0.5, pytest.approx(3 / 40))

    def test_the_interval_covers_as_often_as_it_says(self):
        truth, sent = 0.85, 60
        ends = [Attained(good=n, sent=sent).interval for n in range(sent + 1)]
        inside = [low <= truth <= high for low, high in ends]
        assert 0.93 <= stats.binom(sent, truth).pmf(range(sent + 1))[inside].sum() <= 0.97

    def test_all_good_is_not_certainty(self):
        low, high = Attained(good=20, sent=20).interval
        assert 0.87 < low < 0.92
        assert high == pytest.approx(1.0, abs=1e-3)


def load_of(**attained_at: tuple[int, int]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Steps of which (good, sent) at each level were good, dealt out to the level's agents in turn."""
    streams, rows = [], []
    for name, (kept, sent) in attained_at.items():
        agents = int(name[1:])
        rows.append(window(agents))
        for n in range(sent):
            ttft = 0.5 if n < kept else 2.0
            streams.append((step(agents, str(n % agents), n + 1, 0.0, ttft, 3.0), ()))
    steps, _ = tables(*streams)
    return steps, frame_of([], ChunkRecord), spans(*rows)


class TestCapacity:
    @pytest.mark.parametrize(
        ("shares", "expected"),
        [
            ([1.0, 1.0, 0.2], 2.0),
            ([1.0, 0.9, 0.89], 2.0),
            ([0.8, 0.7, 0.6], 0.0),
            ([1.0, 0.95, 0.9], float("inf")),
        ],
    )
    def test_read_off(self, shares: list[float], expected: float):
        assert read_off([1, 2, 3], np.array(shares), 0.9) == expected

    def test_between_levels_it_is_read_off_a_straight_line(self):
        assert read_off([4, 8], np.array([1.0, 0.8]), 0.9) == 6.0
        assert read_off([4, 8], np.array([1.0, 0.6]), 0.9) == 5.0

    def test_clear_levels_give_the_level_and_a_narrow_interval(self):
        (row,) = capacity(*load_of(a1=(60, 60), a2=(60, 60), a4=(10, 60), a3=(60, 60)), OBJECTIVE).to_dict("records")
        assert (row["agents"], row["low"], row["high"], row["too_few"]) == (3, 3, 3, False)
        assert row["goodput_per_s"] == 6.0
        assert row["n_sent"] == 240

    def test_levels_near_the_share_give_a_wide_interval(self):
        (row,) = capacity(*load_of(a1=(20, 20), a2=(19, 20), a3=(18, 20), a4=(17, 20)), OBJECTIVE).to_dict("records")
        assert row["agents"] == 3
        assert row["low"] < 3
        assert pd.isna(row["high"])  # that four hold is not excluded, and more were not tried

    def test_not_even_one(self):
        (row,) = capacity(*load_of(a1=(1, 40)), OBJECTIVE).to_dict("records")
        assert (row["agents"], row["high"], row["at_least"]) == (0, 0, False)
        assert pd.isna(row["goodput_per_s"])

    def test_more_than_were_tried(self):
        (row,) = capacity(*load_of(a1=(80, 80), a2=(80, 80)), OBJECTIVE).to_dict("records")
        assert (row["agents"], row["at_least"]) == (2, True)
        assert pd.isna(row["high"])

    def test_few_requests_are_too_few_to_tell(self):
        (row,) = capacity(*load_of(a1=(5, 5), a2=(0, 5)), OBJECTIVE).to_dict("records")
        assert row["too_few"]
