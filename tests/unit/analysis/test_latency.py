"""Times with answers worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from builders import a_step, chunks_at, frame_of

from labkit.analysis.latency import e2e, itl, itl_by_step, ntpot, percentile, spread, tpot, ttft, visible_ttft
from labkit.core.records import ChunkRecord


def test_percentiles_interpolate_linearly_and_skip_what_was_not_measured():
    values = np.array([10.0, np.nan, 20.0, 30.0, 40.0])
    assert percentile(values, 50) == 25.0
    assert percentile(values, 95) == pytest.approx(38.5)
    assert percentile(pd.Series([1, None, 3], dtype="Int64"), 50) == 2.0
    assert percentile(np.array([np.nan]), 50) is None


def test_a_spread_of_nothing_is_null_and_not_zero():
    empty = spread(np.array([]))
    assert (empty.n, empty.mean, empty.p50, empty.p99, empty.max) == (0, None, None, None, None)
    some = spread(pd.Series([1.0, 2.0, np.nan, 6.0]))
    assert (some.n, some.mean, some.p50, some.max) == (3, 3.0, 2.0, 6.0)


def test_times_of_a_step():
    steps = frame_of(
        [
            a_step(
                t_send=10.0, t_first_token=11.0, t_first_visible=12.5, t_last=15.0, t_end=15.25, completion_tokens=21
            ),
            a_step(turn=2, t_send=20.0, t_first_token=20.5, t_last=20.5, t_end=21.0, completion_tokens=1),
            a_step(turn=3, t_send=30.0, t_end=None, error="cut off"),
        ]
    )
    nan = np.nan
    np.testing.assert_allclose(ttft(steps), [1.0, 0.5, nan])
    np.testing.assert_allclose(visible_ttft(steps), [2.5, nan, nan])
    np.testing.assert_allclose(e2e(steps), [5.25, 1.0, nan])
    np.testing.assert_allclose(tpot(steps), [4.0 / 20, nan, nan])
    np.testing.assert_allclose(ntpot(steps), [0.25, 1.0, nan])


def test_gaps_are_within_a_stream_whatever_the_order_of_rows():
    first, second = a_step(turn=1), a_step(turn=2)
    rows = [*chunks_at(first, 1.0, 1.1, 1.4), *chunks_at(second, 9.0, 9.5)]
    gaps = itl(frame_of([rows[i] for i in (4, 2, 0, 3, 1)]))
    assert sorted(zip(gaps["turn"], gaps["index"], gaps["itl_s"].round(6), strict=True)) == [
        (1, 1, 0.1),
        (1, 2, 0.3),
        (2, 1, 0.5),
    ]


def test_a_warm_up_of_the_same_step_is_another_stream():
    rows = chunks_at(a_step(warmup=True), 1.0, 2.0) + chunks_at(a_step(warmup=False), 5.0, 5.5)
    assert itl(frame_of(rows)).set_index("warmup")["itl_s"].to_dict() == {True: 1.0, False: 0.5}


def test_gaps_per_step():
    rows = chunks_at(a_step(), 1.0, 1.25, 1.75, 2.75) + chunks_at(a_step(turn=2), 9.0)
    table = itl_by_step(frame_of(rows))
    assert table[["turn", "n_gaps", "itl_p50_s", "itl_max_s"]].to_numpy().tolist() == [[1, 3, 0.5, 1.0]]
    assert itl(frame_of([], ChunkRecord)).empty
