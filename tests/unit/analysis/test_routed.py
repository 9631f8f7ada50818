"""Turns spread over caches, by hand: each replica has only what it was asked itself."""

from __future__ import annotations

import pytest

from labkit.analysis.routed import ceilings, routed_table
from labkit.core.errors import BadInput

TURNS = [(list(range(n)), list(range(n + 1))) for n in (4, 8, 12, 16)]
"""Four turns in blocks of 2: each prompt is the one before and four tokens more; a reply of one token."""


def test_one_replica_has_all_that_was_before():
    assert ceilings(TURNS, 1, block_size=2) == [0, 4, 8, 12]


def test_of_two_each_misses_the_turn_that_the_other_served():
    assert ceilings(TURNS, 2, block_size=2) == [0, 0, 4, 8]


def test_with_a_replica_for_each_turn_nothing_is_found():
    assert ceilings(TURNS, 4, block_size=2) == [0, 0, 0, 0]


def test_the_last_token_of_a_reply_is_stored_in_no_block():
    grown = [([1, 2, 3], [1, 2, 3, 4]), ([1, 2, 3, 4, 5], [])]
    assert ceilings(grown, 1, block_size=2) == [0, 2]


def test_the_table_adds_up():
    table = routed_table(TURNS, [1, 2], block_size=2)
    assert list(table["computed"]) == [16, 28]
    assert list(table["prompt"]) == [40, 40]
    assert list(table["hit_ceiling"]) == pytest.approx([0.6, 0.3])
    assert list(table["n"]) == [4, 4]


def test_no_replica_and_no_turn_are_refused():
    with pytest.raises(BadInput, match="1 or more"):
        ceilings(TURNS, 0, block_size=2)
    with pytest.raises(BadInput, match="at least one"):
        routed_table([], [1], block_size=2)
