"""Which rows a sum over an arm is made from: the one place that decides it, for tables, figures and costs.

Not in any: warm-up and what is void (marked so in the rows), and the block at the end that only shows drift. That block
is of one arm alone, so with it this arm's sums would be over more steps than those of the others. And cold and warm
passes are never in one sum: a warm pass finds its whole prompt in the cache, where prefix caching is on. Nor is in any
what followed a toggle in a live lap: a lap that two arms served is no measurement of either. Who shows what happens now
looks at `sent`, which has these rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from labkit.analysis.tables import measured
from labkit.core.conditions import toggled_from
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


def sent(info: RunInfo, rows: pd.DataFrame) -> pd.DataFrame:
    """`rows`: steps or chunks of this run. Those that its arms were asked for, toggled ones too."""
    rows = measured(rows)
    if not info.asked.get("drift_check"):
        return rows
    return rows[rows["repeat"] < int(info.asked.get("repeats", 1))]


def compared(info: RunInfo, rows: pd.DataFrame) -> pd.DataFrame:
    """`rows`: steps or chunks of this run. Those that count, of both cache states: for pairs, counts and costs."""
    rows = sent(info, rows)
    toggled = is_toggled(rows)
    return rows[~toggled] if toggled.any() else rows


def is_toggled(rows: pd.DataFrame) -> pd.Series[bool]:
    """Which rows followed a toggle in their lap."""
    conditions = rows["condition"]
    return conditions.isin([name for name in conditions.unique() if toggled_from(str(name))])


def of_whole_laps(info: RunInfo, steps: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """`steps` of this run that count and are of a lap that no toggle cut short, and how many laps were cut.

    What a task costs is asked of these alone: the steps before a toggle are no whole task run.
    """
    rows, kept = sent(info, steps), compared(info, steps)
    toggled = rows[is_toggled(rows)]
    cut = set(zip(toggled["condition"].map(toggled_from), toggled["repeat"], strict=True))
    whole = [lap not in cut for lap in zip(kept["arm"], kept["repeat"], strict=True)]
    return kept[np.array(whole, dtype=bool)], len(cut)


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
