"""What an infinite prefix cache could serve when an agent's turns are spread over several replicas, each with its own.

Arithmetic over tokens, no engine: the ceiling of `labkit.analysis.ceiling`, with an index for each replica.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from labkit.analysis.ceiling import PrefixIndex, Tokens
from labkit.analysis.tables import typed_frame
from labkit.core.columns import column
from labkit.core.errors import BadInput
from labkit.core.records import Record

Turn = tuple[Tokens, Tokens]
"""A prompt, and the same prompt with the reply behind it: what the cache is asked for, and what it holds afterwards."""


@dataclass(frozen=True, kw_only=True)
class RoutedRow(Record):
    """One number of replicas, each asked in its turn."""

    replicas: int = column("int64", "", "caches that the turns are spread over; 1: every turn meets the same one")
    n: int = column("int64", "", "turns")
    prompt: int = column("int64", "tokens", "prompt tokens")
    computed: int = column("int64", "tokens", "of these, what no replica that was asked could have had")
    hit_ceiling: float = column("float64", "", "the rest over the prompt tokens, 0 to 1")


def routed_table(turns: Sequence[Turn], replicas: Sequence[int], block_size: int) -> pd.DataFrame:
    """One row per number of replicas, turn n going to replica n modulo their number; columns as RoutedRow has them.

    Raises BadInput for less than one replica, or without a turn.
    """
    if not turns:
        raise BadInput("turns", 0, "at least one")
    return typed_frame(RoutedRow, [_row(turns, count, block_size) for count in replicas])


def _row(turns: Sequence[Turn], replicas: int, block_size: int) -> RoutedRow:
    found = sum(ceilings(turns, replicas, block_size))
    prompt = sum(len(asked) for asked, _ in turns)
    return RoutedRow(
        replicas=replicas, n=len(turns), prompt=prompt, computed=prompt - found, hit_ceiling=found / prompt
    )


def ceilings(turns: Sequence[Turn], replicas: int, block_size: int) -> list[int]:
    """For each turn, the prompt tokens that its replica could have had. The last generated token is stored in none."""
    if replicas < 1:
        raise BadInput("replicas", replicas, "1 or more")
    caches = [PrefixIndex(block_size) for _ in range(replicas)]
    found = []
    for number, (prompt, whole) in enumerate(turns):
        cache = caches[number % replicas]
        found.append(cache.ceiling(prompt))
        cache.add(whole[:-1])
    return found
