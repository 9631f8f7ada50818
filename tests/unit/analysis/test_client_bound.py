"""Each threshold from both sides, and what is counted: the loop's ticks while steps ran, parsing per chunk."""

from dataclasses import replace

import pandas as pd
import pytest
from builders import a_sample, a_step, chunks_at, frame_of

from labkit.analysis.client_bound import ClientVerdict, client_bound
from labkit.analysis.loop_lag import loop_lags
from labkit.core.records import ChunkRecord, SampleRecord, StepRecord

QUIET = {"loop_ticks": 48.0, "loop_lag_p50": 0.0005, "loop_lag_p99": 0.002, "loop_lag_max": 0.002, "cpu": 0.1}


def reading(t: float, **values: float) -> list[SampleRecord]:
    said = {**QUIET, **values}
    return [a_sample(source="client", t=t, name=name, unit="", value=value) for name, value in said.items()]


def a_run(n: int = 20, gap_s: float = 0.1, **values: object) -> tuple[list[StepRecord], list[ChunkRecord]]:
    """Steps of 10 chunks, a second each, TTFT 0.1 s."""
    defaults = {"send_lag_s": 0.0001, "parse_s": 0.001}
    steps = [
        a_step(turn=i + 1, t_send=float(i), t_first_token=i + 0.1, t_end=i + 1.0, **{**defaults, **values})
        for i in range(n)
    ]
    return steps, [c for s in steps for c in chunks_at(s, *(s.t_first_token + k * gap_s for k in range(10)))]


def verdict(run: tuple[list[StepRecord], list[ChunkRecord]], *samples: SampleRecord) -> ClientVerdict:
    steps, chunks = run
    quiet = [sample for i in range(len(steps)) for sample in reading(i + 1.0)]
    return client_bound(frame_of(steps), frame_of(chunks, ChunkRecord), frame_of(list(samples) or quiet, SampleRecord))


def test_a_quiet_client_is_not_bound_and_its_numbers_are_there():
    got = verdict(a_run())
    assert (got.bound, got.why, got.in_words()) == (False, (), "")
    assert got.parse_p99_s == pytest.approx(0.0001)
    assert got.loop_lag_p99_s == pytest.approx(0.002, rel=0.1)
    assert got.client_cores == pytest.approx(0.1)
    assert got.described() == "loop lag 0.51 / 2 ms, send lag 0.1 / 0.1 ms, parsing a chunk 0.1 / 0.1 ms, 0.10 cores"


@pytest.mark.parametrize(
    ("run", "loud", "word"),
    [
        (a_run(), {"loop_lag_p50": 0.006, "loop_lag_p99": 0.008}, "ms (median)"),
        (a_run(), {"loop_lag_p99": 0.012, "loop_lag_max": 0.012}, "event loop late by 12 ms (p99), 12 %"),
        (a_run(gap_s=0.01), {}, "event loop late by 2 ms (p99), 20 %"),
        (a_run(parse_s=0.06), {}, "parsing a chunk takes 6 ms (p99), 6.0 % of the median gap"),
        (a_run(send_lag_s=0.006), {}, "requests sent late by 6 ms (p99), 6.0 % of the median TTFT"),
        (a_run(send_lag_s=0.06), {}, "requests sent late by 60 ms (p99)"),
        (a_run(), {"cpu": 0.9}, "the client used 0.90 of the one core"),
    ],
)
def test_each_threshold_is_named_when_it_is_crossed(run, loud, word):
    samples = [sample for i in range(20) for sample in reading(i + 1.0, **loud)]
    got = verdict(run, *samples)
    assert got.bound
    assert any(word in why for why in got.why), got.why
    assert got.in_words().startswith("client-bound: ")


def test_what_the_loop_did_while_no_step_ran_is_not_counted():
    """An engine is started for 30 s, in which the client may block as it likes."""
    busy = {"loop_lag_p50": 0.5, "loop_lag_p99": 0.9, "loop_lag_max": 1.0, "cpu": 1.0}
    steps, chunks = a_run()
    later = [replace(s, t_send=s.t_send + 30, t_first_token=s.t_first_token + 30, t_end=s.t_end + 30) for s in steps]
    samples = [*[s for t in range(1, 31) for s in reading(t, **busy)], *[s for t in range(31, 52) for s in reading(t)]]
    assert not verdict((later, [replace(c, t=c.t + 30) for c in chunks]), *samples).bound
    assert verdict((steps, chunks), *samples).bound


def test_one_late_tick_in_many_seconds_is_no_tail_and_one_in_fifty_is():
    def ticks(late: int) -> float:
        rows = [s for t in range(100) for s in reading(t, loop_lag_max=0.5 if t < late else 0.002)]
        return float(pd.Series(loop_lags(frame_of(rows, SampleRecord))).quantile(0.99))

    assert ticks(1) < 0.01
    assert ticks(100) == pytest.approx(0.5)


def test_what_was_not_measured_is_null_and_crosses_nothing():
    got = client_bound(frame_of([a_step()]), frame_of([], ChunkRecord), frame_of([], SampleRecord))
    assert got == ClientVerdict(bound=False)
    assert got.described() == "loop lag – / – ms, send lag – / – ms, parsing a chunk – / – ms, – cores"
    nothing = client_bound(frame_of([]), frame_of([], ChunkRecord), frame_of([], SampleRecord))
    assert nothing == ClientVerdict(bound=False)
