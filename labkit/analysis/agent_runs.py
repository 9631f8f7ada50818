"""Intervals over agent-runs: what one agent met on its way through one recording is one observation, not many.

A percentile bootstrap (scipy.stats.bootstrap): agent-runs are drawn with replacement, the number is computed anew from
all that the drawn ones hold, and the middle 95 % of 999 such numbers are the interval. Below five agent-runs there is
none: too few to tell. Runs that shared an engine also shared its moments, so the interval is about these windows; that
another day would give the same is not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from labkit.analysis.tables import Floats, floats

MIN_RUNS = 5
_RESAMPLES = 999


class Interval(NamedTuple):
    """95 %; both None: too few to tell."""

    low: float | None = None
    high: float | None = None


def interval(runs: Sequence[Floats], statistic: Callable[[Floats], float], seed: int = 0) -> Interval:
    """Of `statistic`, which takes the rows of all drawn runs; each run is an array with a row per observation."""
    runs = [run for run in runs if len(run)]
    if len(runs) < MIN_RUNS:
        return Interval()

    def drawn(which: Any) -> float:
        return statistic(np.concatenate([runs[int(n)] for n in which]))

    found = stats.bootstrap(
        (np.arange(len(runs)),),
        drawn,
        vectorized=False,
        n_resamples=_RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))


def by_run(frame: pd.DataFrame, key: Sequence[str], values: Sequence[str]) -> list[Floats]:
    """The rows of each agent-run, one column per value."""
    groups = frame.groupby(list(key), sort=True)
    return [np.column_stack([floats(group[name]) for name in values]) for _, group in groups]
