"""One cost per request: the gaps of every stream in one sort are those of each stream alone."""

from __future__ import annotations

import numpy as np
import pytest
from builders import a_step, chunks_at, frame_of

from labkit.analysis.requests import MIN_GAPS, request_costs
from labkit.core.records import ChunkRecord


def test_the_longest_gaps_of_each_step_are_numpys_percentile_of_its_own_gaps():
    rng = np.random.default_rng(3)
    steps = [a_step(arm=arm, turn=turn, t_last=9.0) for turn in (2, 1) for arm in ("prefix", "base")]
    times = [np.cumsum(rng.uniform(0.01, 1, 11 + 7 * n)) for n in range(len(steps))]
    chunks = [chunk for one, at in zip(steps, times, strict=True) for chunk in chunks_at(one, *at)]
    costs = request_costs(frame_of(steps), frame_of(chunks), "itl_p99_s")["cost"]
    assert list(costs) == pytest.approx([np.percentile(np.diff(at), 99) for at in times])


def test_a_step_with_few_gaps_and_one_without_any_have_none():
    few, none = a_step(turn=1), a_step(turn=2)
    chunks = frame_of(chunks_at(few, *range(MIN_GAPS)))
    assert request_costs(frame_of([few, none]), chunks, "itl_p99_s")["cost"].isna().all()
    empty = frame_of([], like=ChunkRecord)
    assert request_costs(frame_of([none]), empty, "itl_p99_s")["cost"].isna().all()
