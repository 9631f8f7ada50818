"""Distributions with answers that can be counted: shares of all that were sent, and few points for many values."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from builders import a_step, chunks_at, frame_of
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.analysis.distribution import POINTS, distribution, distributions
from labkit.core.records import ChunkRecord


def took(seconds, arm="base", **values):
    return a_step(
        arm=arm, t_send=1.0, t_first_token=1.0 + seconds / 2, t_last=1.0 + seconds, t_end=1.0 + seconds, **values
    )


def test_each_value_adds_its_share_of_all_that_were_sent():
    steps = frame_of([took(3, turn=1), took(1, turn=2), took(2, turn=3), replace(took(9, turn=4), error="HTTP 500")])
    [found] = distributions(steps, "e2e")
    assert found.seconds == (1.0, 1.0, 2.0, 3.0)
    assert found.shares == (0.0, 0.25, 0.5, 0.75)
    assert (found.n, found.n_lost, found.median) == (4, 1, 2.0)


def test_where_half_failed_and_more_no_half_is_reached():
    found = distribution("base", np.array([1.0, np.nan, np.nan]))
    assert (found.median, found.shares[-1]) == (None, pytest.approx(1 / 3))


def test_first_tokens_and_gaps_are_told_apart_and_arms_are_in_order():
    steps = [took(2, "spec"), took(4, "base")]
    found = distributions(frame_of(steps), "ttft")
    assert [(one.arm, one.median) for one in found] == [("base", 2.0), ("spec", 1.0)]
    chunks = frame_of([c for step in steps for c in chunks_at(step, 2.0, 2.1, 2.4)])
    assert distributions(chunks, "itl")[0].seconds[1:] == pytest.approx((0.1, 0.3))


def test_warmup_and_arms_without_a_value_have_no_curve():
    steps = frame_of([took(1, warmup=True), replace(took(1, "spec"), error="HTTP 500")])
    assert distributions(steps, "e2e") == ()
    assert distributions(frame_of([], ChunkRecord), "itl") == ()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3000), st.integers(0, 50))
def test_few_points_stand_for_many_values(n, lost):
    values = np.sort(np.random.default_rng(n).lognormal(0, 1, n))
    found = distribution("base", np.append(values, [np.nan] * lost))
    assert len(found.seconds) <= POINTS
    assert found.seconds[0] == values[0]
    assert found.seconds[-1] == values[-1]
    assert list(found.seconds) == sorted(found.seconds)
    exact = np.searchsorted(values, found.seconds[1:], side="right") / (n + lost)
    assert found.shares[1:] == pytest.approx(exact)
    assert max(np.diff([*found.shares])) <= 2.01 / POINTS or n < POINTS


def test_words_as_categories_change_nothing():
    chunks = frame_of(chunks_at(took(2), 1.0, 1.5, 2.5))
    narrow = chunks.astype({"arm": "category", "task": "category"})
    assert distributions(pd.DataFrame(narrow), "itl") == distributions(chunks, "itl")
