"""Ceilings for other block sizes: by hand, and the same as from the tokens themselves."""

from __future__ import annotations

from itertools import count, islice

import pandas as pd
import pytest
from builders import a_step, frame_of
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.analysis.block_sizes import SIZES, at_most, by_block_size, ceilings_at
from labkit.core.errors import BadInput
from labkit.core.records import StepRecord
from labkit.experiments.seen import Seen, ServedBy

ONE = ServedBy("engine", "engine")


def talk(*turns: tuple[int, int, int], **values: object) -> pd.DataFrame:
    """Turns of one agent: prompt, shared and completion tokens."""
    return frame_of(
        [
            a_step(turn=n, prompt_tokens=prompt, shared_tokens=shared, completion_tokens=said, **values)
            for n, (prompt, shared, said) in enumerate(turns, 1)
        ]
    )


def test_by_hand():
    rows = by_block_size(talk((100, 0, 20), (200, 110, 20), (300, 215, 5)), (16, 32, 128)).set_index("block_size")
    assert list(rows["ceiling"]) == [96 + 208, 96 + 192, 0 + 128]
    assert (rows["prompt"] == 600).all()
    assert (rows["shared"] == 325).all()
    assert rows["hit_ceiling"].iloc[2] == pytest.approx(128 / 600)
    assert list(rows["n_nothing"]) == [0, 0, 1]
    assert list(rows["n"]) == [3, 3, 3]


def test_the_last_token_of_a_reply_is_seen_and_not_stored():
    whole, part = talk((100, 0, 28), (200, 128, 1)), talk((100, 0, 29), (200, 128, 1))
    assert list(ceilings_at(whole, 32)["ceiling_at"]) == [0, 96]
    assert list(ceilings_at(part, 32)["ceiling_at"]) == [0, 128]


def test_at_least_the_last_token_of_a_prompt_is_computed():
    assert list(ceilings_at(talk((128, 128, 1)), 32)["ceiling_at"]) == [96]
    assert [at_most(length, 128) for length in (0, 1, 128, 129, 257)] == [0, 0, 0, 128, 256]


def test_what_was_not_measured_is_left_out():
    steps = pd.concat(
        [talk((100, 64, 1)), talk((100, 64, 1), warmup=True, agent="w"), talk((100, 64, 1), error="x", agent="e")]
    )
    assert list(by_block_size(steps, [32])["n"]) == [1]
    empty = by_block_size(frame_of([], StepRecord), SIZES)
    assert list(empty["ceiling"]) == [0] * 5
    assert empty["hit_ceiling"].isna().all()


@pytest.mark.parametrize("size", [0, -1])
def test_no_such_block(size):
    with pytest.raises(BadInput, match="block_size"):
        by_block_size(talk((100, 0, 1)), [size])


sizes = st.tuples(st.integers(0, 9), st.integers(1, 6), st.integers(0, 6))


@settings(deadline=None)
@given(st.lists(sizes, min_size=1, max_size=6), st.sampled_from([1, 2, 3, 4]))
def test_it_is_what_the_tokens_give(turns: list[tuple[int, int, int]], size: int):
    """Each prompt carries the one before, as much of its reply as was said alike, and something new."""
    fresh, seen = count(), Seen(size)
    prompt, steps, expected = list(islice(fresh, 4)), list[StepRecord](), list[int]()
    for n, (appended, length, kept) in enumerate(turns, 1):
        reply = list(islice(fresh, length))
        expected.append(seen.ceiling(prompt))
        steps.append(
            a_step(turn=n, prompt_tokens=len(prompt), shared_tokens=seen.shared(prompt), completion_tokens=length)
        )
        seen.add(prompt, reply, ONE)
        prompt = [*prompt, *reply[:kept], *islice(fresh, appended)]
    found = ceilings_at(frame_of(steps), size)["ceiling_at"]
    assert [int(value) for value in found] == expected
