"""The gap between what could be shared and what was cached: its parts by hand, and that they add up always."""

import pandas as pd
import pytest
from builders import a_step, frame_of
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.analysis.cache_gap import NAMED, CacheGapRow, cache_gap, step_gap
from labkit.core.columns import columns_of

FULL = {
    "prompt_tokens": 1000,
    "append_tokens": 900,
    "shared_tokens": 700,
    "ceiling_tokens": 672,
    "reachable_tokens": 640,
    "cached_tokens": 320,
}


def gap(*changes: dict[str, object], arm: str = "prefix") -> pd.DataFrame:
    steps = [a_step(**{"arm": arm, **FULL, "turn": n, **change}) for n, change in enumerate(changes or ({},), 1)]
    return cache_gap(frame_of(steps))


def test_every_loss_has_its_name():
    row = gap().iloc[0]
    assert (row["new"], row["template_drift"], row["rounding"]) == (100, 200, 28)
    assert (row["routing"], row["eviction"], row["lost"], row["off"]) == (32, 320, 352, 0)
    assert row["beyond"] == 0


def test_without_prefix_caching_nothing_was_evicted():
    row = gap({"cached_tokens": 0}, arm="spec").iloc[0]
    assert (row["off"], row["lost"], row["routing"], row["eviction"]) == (672, 0, 0, 0)
    assert (row["template_drift"], row["rounding"]) == (200, 28)


def test_with_replicas_that_nobody_tells_apart_the_loss_is_known_and_its_cause_is_not():
    row = gap({}, {"reachable_tokens": None}).iloc[0]
    assert row["lost"] == 2 * 352
    assert pd.isna(row["routing"])
    assert pd.isna(row["eviction"])


def test_the_first_turn_has_no_history_that_could_drift():
    row = gap({"append_tokens": None}).iloc[0]
    assert (row["template_drift"], row["new"]) == (0, 300)


def test_more_cached_than_anything_known_could_leave_is_said():
    row = gap({"append_tokens": None, "shared_tokens": 0, "ceiling_tokens": 0, "reachable_tokens": 0}).iloc[0]
    assert (row["beyond"], row["new"], row["lost"]) == (320, 680, 0)


def test_steps_that_were_not_measured_failed_or_warmed_up_are_left_out():
    row = gap({}, {"ceiling_tokens": None}, {"error": "HTTP 500"}, {"warmup": True}, {"cached_tokens": None}).iloc[0]
    assert (row["n"], row["prompt"]) == (1, 1000)
    empty = cache_gap(frame_of([]))
    assert list(empty.columns) == [c.name for c in columns_of(CacheGapRow)]
    assert len(empty) == 0


tokens = st.integers(0, 500)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["base", "prefix", "pd", "all"]),
    st.tuples(tokens, tokens, tokens, tokens, tokens),
    st.booleans(),
    st.booleans(),
)
def test_the_parts_add_up_to_the_prompt_whatever_was_measured(arm, sizes, first, unknown):
    """Levels in any order, as engines with surprises report them: `cached` above `ceiling`, `append` below `shared`."""
    append, shared, ceiling, reachable, cached = sizes
    prompt = max(sizes) + 1
    step = a_step(
        arm=arm,
        prompt_tokens=prompt,
        append_tokens=None if first else append,
        shared_tokens=shared,
        ceiling_tokens=min(ceiling, shared),
        reachable_tokens=None if unknown else reachable,
        cached_tokens=cached,
    )
    row = step_gap(frame_of([step])).iloc[0]
    could = max(shared, 0 if first else append, cached)
    assert row["new"] + row["template_drift"] + row["rounding"] + row["off"] + row["lost"] + row["cached"] == prompt
    assert row["template_drift"] + row["rounding"] + row["off"] + row["lost"] == could - cached
    if arm == "base" or not unknown:
        assert sum(row[name] for name in NAMED) == could - cached
    assert (row[["new", "template_drift", "rounding", "off", "lost", "beyond"]] >= 0).all()


@pytest.mark.parametrize("arm", ["base", "prefix"])
def test_sums_are_of_the_steps(arm):
    table = gap({}, {"cached_tokens": 640}, {"append_tokens": 600}, arm=arm)
    parts = step_gap(frame_of([a_step(**{"arm": arm, **FULL, "turn": 1})])).iloc[0]
    assert table.iloc[0]["rounding"] == 3 * parts["rounding"]
    assert table.iloc[0]["template_drift"] == 2 * parts["template_drift"]
