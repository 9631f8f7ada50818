"""Agents that take turns on a small cache: by hand, and against rules that any least-recently-used cache keeps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.analysis.turn_taking import Pool, Turn, left_for_one, turn_taking
from labkit.core.errors import BadInput

BLOCK = 4
SAME = [Turn(prompt=16, generated=1, shared=16 if n else 0) for n in range(4)]
"""Four blocks that the next turn asks for again, and one that is not whole."""


def test_what_the_others_leave_of_ones_own():
    assert [left_for_one(20, 5, agents) for agents in (1, 3, 4, 5, 6)] == [1, 1, 1, 0, 0]
    assert left_for_one(18, 5, 4) == pytest.approx(3 / 5)


def test_a_request_finds_its_whole_blocks_but_for_the_one_with_the_last_token():
    pool = Pool(10, BLOCK)
    assert pool.serve("a", Turn(prompt=16, generated=1)) == 0
    assert pool.serve("a", Turn(prompt=16, generated=1, shared=16)) == 12
    assert pool.serve("a", Turn(prompt=17, generated=1, shared=16)) == 16
    assert pool.serve("b", Turn(prompt=17, generated=1, shared=16)) == 0


def test_the_last_generated_token_fills_no_block():
    pool = Pool(10, BLOCK)
    pool.serve("a", Turn(prompt=6, generated=2))
    assert pool.serve("a", Turn(prompt=12, generated=1, shared=8)) == 4
    pool.serve("b", Turn(prompt=6, generated=3))
    assert pool.serve("b", Turn(prompt=12, generated=1, shared=9)) == 8


def test_what_was_used_longest_ago_goes_first_and_its_end_before_its_beginning():
    pool = Pool(9, BLOCK)
    for life in ("a", "b"):
        pool.serve(life, Turn(prompt=16, generated=1))  # 5 blocks while it runs, 4 that stay
    assert pool.serve("a", Turn(prompt=17, generated=1, shared=16)) == 16  # nothing had to go: 9 blocks hold both
    pool.serve("c", Turn(prompt=9, generated=1))  # 3 blocks: one is free, two of b's go, the last ones
    assert pool.serve("b", Turn(prompt=17, generated=1, shared=16)) == 8


def test_another_text_is_another_block():
    pool = Pool(20, BLOCK)
    pool.serve("a", Turn(prompt=16, generated=1))
    assert pool.serve("a", Turn(prompt=17, generated=1, shared=9)) == 8
    assert pool.serve("a", Turn(prompt=17, generated=1, shared=17)) == 16


def test_a_cache_below_one_request_is_refused():
    with pytest.raises(BadInput, match="at least 5"):
        Pool(4, BLOCK).serve("a", Turn(prompt=16, generated=1))


def test_the_cliff_is_one_agent_wide():
    """Each agent comes back to four whole blocks: 17 blocks hold four agents, and a fifth takes it all."""
    rates = {n: turn_taking([SAME], n, 17, BLOCK) for n in (1, 2, 3, 4, 5, 8)}
    ceiling = 3 * 12 / 64
    assert {n: row.hit_ceiling for n, row in rates.items()} == dict.fromkeys(rates, ceiling)
    assert all(rates[n].hit_rate == ceiling for n in (1, 2, 3, 4))
    assert all(rates[n].hit_rate == 0 for n in (5, 8))


turns = st.builds(lambda p, g: (p, g), st.integers(1, 40), st.integers(1, 12))


@settings(deadline=None)
@given(
    st.lists(st.lists(turns, min_size=1, max_size=4), min_size=1, max_size=3), st.integers(1, 4), st.integers(13, 60)
)
def test_it_never_beats_its_ceiling_and_a_large_cache_reaches_it(sizes, agents, blocks):
    lives = []
    for life in sizes:
        made, before = list[Turn](), 0
        for more, said in life:
            prompt = before + more
            made.append(Turn(prompt=prompt, generated=said, shared=max(0, before - 1)))
            before = prompt + said
        lives.append(made)
    longest = max(turn.blocks(BLOCK) for life in lives for turn in life)
    row = turn_taking(lives, agents, max(blocks, longest), BLOCK)
    assert 0 <= row.hit_rate <= row.hit_ceiling <= 1
    large = turn_taking(lives, agents, 40 * longest * agents, BLOCK)
    assert large.hit_rate == large.hit_ceiling == row.hit_ceiling
