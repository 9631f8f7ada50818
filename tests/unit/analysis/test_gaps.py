"""Gaps between chunks in a few passes over the columns are those that sorting every row gives, in the same order."""

from __future__ import annotations

import huge_run
import pandas as pd
import pytest

from labkit.analysis.arms import arm_table
from labkit.analysis.latency import STREAM_KEY, itl, itl_by_arm, itl_by_step, itl_spreads, spread
from labkit.store.tables import compact_frame, to_frame

SIZE = huge_run.Size(agents=6, turns=3, chunks=5, tasks=2)


def by_sorting(chunks: pd.DataFrame) -> pd.DataFrame:
    """What `itl` means, said in the plainest way: sort all rows, and take differences within each stream."""
    ordered = chunks.sort_values([*STREAM_KEY, "index"], kind="stable")
    gaps = ordered.groupby(STREAM_KEY, sort=False)["t"].diff()
    table = ordered[[*STREAM_KEY, "index"]].assign(itl_s=gaps.astype("float64"))
    return table[table["itl_s"].notna()].reset_index(drop=True)


@pytest.fixture(scope="module")
def arrow():
    steps, times = huge_run.step_columns("r", SIZE)
    return huge_run.arrow("chunks", huge_run.chunk_columns(steps, times))


ORDERS = {
    "as written": lambda chunks: chunks,
    "streams shuffled": lambda chunks: chunks.sort_values("arm", ascending=False, kind="stable"),
    "rows shuffled": lambda chunks: chunks.sample(frac=1, random_state=1),
    "sent twice": lambda chunks: pd.concat([chunks, chunks]),
    "one chunk": lambda chunks: chunks.head(1),
    "none": lambda chunks: chunks.head(0),
}


@pytest.mark.parametrize("order", ORDERS)
def test_they_are_those_of_sorting(arrow, order):
    chunks = ORDERS[order](to_frame(arrow))
    pd.testing.assert_frame_equal(itl(chunks), by_sorting(chunks))


def test_gaps_of_a_step_are_summed_up_in_the_order_of_steps(arrow):
    chunks = to_frame(arrow)
    groups = by_sorting(chunks).groupby(STREAM_KEY, sort=False)["itl_s"]
    expected = groups.agg(n_gaps="size", itl_p50_s="median", itl_max_s="max").reset_index()
    pd.testing.assert_frame_equal(itl_by_step(chunks), expected)


def test_gaps_of_an_arm_are_pooled(arrow):
    chunks = to_frame(arrow)
    gaps = by_sorting(chunks)
    for arm, found in itl_by_arm(chunks).items():
        assert sorted(found) == sorted(gaps.loc[gaps["arm"] == arm, "itl_s"])
        assert itl_spreads(chunks)[arm] == spread(found)
    assert len(itl_by_arm(chunks)) == 8


def test_texts_as_categories_give_the_same_numbers(arrow):
    steps, _ = huge_run.step_columns("r", SIZE)
    table = to_frame(huge_run.arrow("steps", steps))
    pd.testing.assert_frame_equal(arm_table(table, to_frame(arrow)), arm_table(table, compact_frame(arrow)))
    compact = itl(compact_frame(arrow))
    pd.testing.assert_frame_equal(compact.astype(itl(to_frame(arrow)).dtypes), itl(to_frame(arrow)))
