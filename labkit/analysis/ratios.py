"""A ratio of two sums with its interval, clustered: what a token-weighted rate and a paired gain have in common.

The interval is the delta method's for a ratio of cluster totals (Cochran 1977, section 6.4: the variance of the
residuals `part - ratio * whole`), with Student's t. Tasks are the clusters where there are at least three; else single
steps are, and `over` says so: such an interval is about these tasks, not about tasks in general. Where every cluster
has the very same ratio, as when each draft was accepted, it has no width.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from labkit.analysis.tables import Floats

MIN_STEPS = 5
"""Below this many steps a ratio is too few to tell, and has no interval."""
MIN_TASKS = 3
"""Below this many tasks they are no clusters."""


class Ratio(NamedTuple):
    """`value`: sum of parts over sum of wholes, None when the latter is 0. `low`, `high`: 95 %, None when too few.

    `n`: steps with both; `n_tasks`: of so many tasks. `over`: what the interval is about, empty without one.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    n_tasks: int
    over: str

    @property
    def too_few(self) -> bool:
        return self.n < MIN_STEPS


def ratio_of_sums(part: Floats, whole: Floats, tasks: Sequence[object]) -> Ratio:
    """The ratio over the rows that have both numbers (NaN: not measured). All three have one value per step."""
    both = ~(np.isnan(part) | np.isnan(whole))
    part, whole, kept = part[both], whole[both], pd.Series(list(tasks), dtype=object)[both]
    n, n_tasks = len(part), int(kept.nunique())
    if not whole.sum() > 0:
        return Ratio(None, None, None, n, n_tasks, "")
    value = float(part.sum() / whole.sum())
    if n < MIN_STEPS:
        return Ratio(value, None, None, n, n_tasks, "")
    if n_tasks >= MIN_TASKS:
        codes = pd.factorize(kept)[0]
        part, whole, over = _totals(codes, part), _totals(codes, whole), "tasks"
    else:
        over = f"steps of {'one task' if n_tasks == 1 else f'{n_tasks} tasks'}"
    reach = _reach(part, whole, value)
    return Ratio(value, value - reach, value + reach, n, n_tasks, over)


def _totals(codes: npt.NDArray[np.int64], values: Floats) -> Floats:
    return np.bincount(codes, values).astype(np.float64)


def _reach(part: Floats, whole: Floats, value: float) -> float:
    """Half of the 95 % interval's width, from one part and one whole per cluster."""
    clusters = len(part)
    spread = float(((part - value * whole) ** 2).sum()) * clusters / (clusters - 1)
    return float(stats.t.ppf(0.975, clusters - 1) * np.sqrt(spread) / whole.sum())
