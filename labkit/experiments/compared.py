"""Which rows a sum over an arm is made from: the one place that decides it, for tables, figures and costs.

Not in any: warm-up and what is void (marked so in the rows), and the block at the end that only shows drift. That block
is of one arm alone, so with it this arm's sums would be over more steps than those of the others. And cold and warm
passes are never in one sum: a warm pass finds its whole prompt in the cache, where prefix caching is on.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from labkit.analysis.tables import measured
from labkit.core.records import Cache, RunInfo

_CACHES: tuple[Cache, ...] = ("cold", "warm")


class Part(NamedTuple):
    """The rows of one cache state. `name`: `cold passes` or `warm passes`; empty where the run has only one state."""

    cache: Cache
    name: str
    steps: pd.DataFrame
    chunks: pd.DataFrame

    def title(self, title: str) -> str:
        """The title of a table that is about this part alone: `Times (cold passes)`."""
        return f"{title} ({self.name})" if self.name else title


def compared(info: RunInfo, rows: pd.DataFrame) -> pd.DataFrame:
    """`rows`: steps or chunks of this run. Those that count, of both cache states: for pairs, counts and costs."""
    rows = measured(rows)
    if not info.asked.get("drift_check"):
        return rows
    return rows[rows["repeat"] < int(info.asked.get("repeats", 1))]


def parts(info: RunInfo, steps: pd.DataFrame, chunks: pd.DataFrame) -> list[Part]:
    """The rows that count, for sums: cold passes first, then warm ones, where there are any.

    Never empty: without a step, cold passes without a row.
    """
    steps, chunks = compared(info, steps), compared(info, chunks)
    there = [cache for cache in _CACHES if (steps["cache"] == cache).any()] or [_CACHES[0]]
    return [
        Part(
            cache=cache,
            name=f"{cache} passes" if len(there) > 1 else "",
            steps=steps[steps["cache"] == cache],
            chunks=chunks[chunks["cache"] == cache],
        )
        for cache in there
    ]
