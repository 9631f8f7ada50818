"""Prompts beside streams, and the rate of prefill, on made-up rows whose numbers can be counted by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pytest
from builders import a_step, chunks_at, frame_of

from labkit.analysis.collisions import CollisionRow, collisions
from labkit.analysis.concurrency import WindowRow
from labkit.analysis.prefill_rate import PrefillRate, prefill_rates
from labkit.analysis.tables import typed_frame
from labkit.core.columns import columns_of
from labkit.core.records import ChunkRecord, StepRecord


def spans(*levels: int, arm: str = "base") -> pd.DataFrame:
    rows = [
        WindowRow(
            arm=arm, condition=f"agents={n}", repeat=0, agents=n, start=0, end=30, close=30, sent=0, cut=0, gaps=False
        )
        for n in levels
    ]
    return typed_frame(WindowRow, rows)


def step(agents: int, agent: str, t_send: float, first: float, end: float, **more: object) -> StepRecord:
    times = {"t_send": t_send, "t_first_token": first, "t_last": end, "t_end": end}
    return a_step(condition=f"agents={agents}", agent=agent, **{**times, **more})


def tables(*streams: tuple[StepRecord, Sequence[float]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    chunks = [chunk for made, times in streams for chunk in chunks_at(made, *times)]
    return frame_of([made for made, _ in streams]), frame_of(chunks, ChunkRecord)


ALONE = (step(1, "0", 0.0, 0.5, 0.8), (0.5, 0.6, 0.7, 0.8))  # a usual gap of 0.1 s
STREAM = (step(2, "0", 0.0, 0.5, 5.0), (0.5, 0.6, 2.0, 2.1, 5.0))


class TestCollisions:
    def test_the_longest_gap_beside_a_prompt_and_its_new_tokens(self):
        prompt = (step(2, "1.2", 0.7, 1.9, 2.2, turn=3, prompt_tokens=1000, cached_tokens=400), (1.9, 2.2))
        (row,) = collisions(*tables(ALONE, STREAM, prompt), spans(1, 2)).to_dict("records")
        assert (row["agents"], row["agent"], row["turn"], row["stream"]) == (2, "1.2", 3, "0")
        assert row["tokens"] == 600
        assert (row["wait_s"], row["gap_s"], row["usual_s"]) == pytest.approx((1.2, 1.4, 0.1))

    def test_a_gap_beside_two_prompts_is_nobodys(self):
        one = (step(3, "1", 0.7, 1.9, 2.0, prompt_tokens=600, cached_tokens=0), ())
        two = (step(3, "2", 0.8, 1.8, 2.0, prompt_tokens=600, cached_tokens=0), ())
        alone = (step(3, "2", 2.5, 4.0, 4.5, turn=2, prompt_tokens=700, cached_tokens=0), ())
        stream = (step(3, "0", 0.0, 0.5, 5.0), STREAM[1])
        found = collisions(*tables(ALONE, stream, one, two, alone), spans(1, 3))
        assert list(found["tokens"]) == [700]
        assert list(found["gap_s"]) == pytest.approx([2.9])

    def test_a_prompt_of_the_ramp_counts_and_a_failed_or_silent_one_does_not(self):
        ramp = (step(2, "1", 0.55, 0.9, 1.0, warmup=True, prompt_tokens=300, cached_tokens=0), ())
        failed = (step(2, "1", 2.05, 2.09, 2.1, turn=2, error="HTTP 500", prompt_tokens=9, cached_tokens=0), ())
        silent = (step(2, "1", 2.5, 3.0, 3.1, turn=3, prompt_tokens=300), ())
        found = collisions(*tables(ALONE, STREAM, ramp, failed, silent), spans(1, 2))
        assert list(found["tokens"]) == [300]
        assert list(found["turn"]) == [1]

    def test_a_stream_that_ended_before_the_prompt_came_may_never_have_met_it(self):
        late = (step(2, "1", 1.5, 4.0, 4.2, prompt_tokens=600, cached_tokens=0), ())
        ended = (step(2, "0", 0.0, 0.5, 2.1), (0.5, 0.6, 2.0, 2.1))
        assert collisions(*tables(ALONE, ended, late), spans(1, 2)).empty
        assert list(collisions(*tables(ALONE, STREAM, late), spans(1, 2))["gap_s"]) == pytest.approx([2.9])

    def test_its_own_next_recording_is_no_company(self):
        own = (step(2, "0.1", 0.7, 1.9, 2.0, prompt_tokens=600, cached_tokens=0), ())
        assert collisions(*tables(ALONE, STREAM, own), spans(1, 2)).empty

    def test_without_a_window_there_is_a_typed_nothing(self):
        found = collisions(*tables(ALONE), spans())
        assert list(found) == [each.name for each in columns_of(CollisionRow)]
        assert found.empty


class TestRates:
    def test_of_the_replies_with_the_fewest_agents(self):
        told = {"prompt_tokens": 1000, "cached_tokens": 400}
        steps = frame_of(
            [
                step(1, "0", 0, 1, 2, **told, prefill_s=1.0, warmup=True),
                step(1, "0", 2, 3, 4, prompt_tokens=1200, cached_tokens=1000, prefill_s=1.0),
                step(1, "0", 4, 5, 6, **told),
                step(2, "0", 6, 7, 8, **told, prefill_s=60.0),
            ]
        )
        assert prefill_rates(steps, [], spans(1, 2)) == {"base": PrefillRate(800, 2.0, 2)}
        assert PrefillRate(800, 2.0, 2).per_s == 400

    def test_of_a_split_engine_by_the_counters_of_prefill(self):
        grown = {
            "prefill": {"growth": {"prompt_computed": 900, "prefill_s": 3.0, "requests": 4}},
            "decode": {"growth": {"prompt_computed": 5, "prefill_s": 9.0, "requests": 4}},
        }
        steps = frame_of([step(1, "0", 0, 1, 2, arm="pd")])
        events = [
            {"type": "counters", "arm": "pd", "condition": "agents=1", "processes": grown},
            {"type": "counters", "arm": "pd", "condition": "agents=2", "processes": {}},
            {"type": "step"},
        ]
        assert prefill_rates(steps, events, spans(1, arm="pd")) == {"pd": PrefillRate(900, 3.0, 4)}

    def test_an_engine_that_tells_neither_is_not_there(self):
        assert prefill_rates(frame_of([step(1, "0", 0, 1, 2)]), [], spans(1)) == {}
