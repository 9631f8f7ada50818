"""Two groups of tasks that are not the same tasks: what can be said, and how little it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from labkit.analysis.comparisons import TASKS, Comparison
from labkit.analysis.effect_words import TOO_FEW
from labkit.analysis.requests import PASS, Metric
from labkit.analysis.starts import Starts
from labkit.analysis.tables import Floats, floats

UNPAIRED = "Welch's t on task means of logs"
_EXACT = 1e-12
"""A standard error of logs below this is rounding of equal numbers."""
_REQUEST = ["task", "recording", "agent", "turn"]


def unpaired(metric: Metric, costs: pd.DataFrame, starts: Starts, a: str, b: str) -> Comparison:
    """Arm `b` against arm `a` of `request_costs`, on the log scale. `n_*`: of the smaller side."""
    sides = [costs[(costs["arm"] == arm) & costs["cost"].notna()] for arm in (a, b)]
    one, two = (_task_means(side, summed=metric == "prompt_computed") for side in sides)
    counted = Comparison(
        name="b",
        metric=metric,
        arms_used=(a, b),
        n_requests=min(len(side[_REQUEST].drop_duplicates()) for side in sides),
        n_tasks=min(len(one), len(two)),
        n_repeats=min(side["repeat"].nunique() for side in sides),
        n_starts=min(starts.fewest([arm], set(side["repeat"])) for arm, side in zip((a, b), sides, strict=True)),
    )
    return _estimated(counted, one, two) if len(one) and len(two) else counted


def _task_means(costs: pd.DataFrame, summed: bool) -> Floats:
    """Mean log cost of each task: of its requests over repeats, or of its passes' sums."""
    if summed:
        sums = costs.groupby(PASS)["cost"].sum()
        return floats(_logs(sums).groupby(level="task").mean())
    logs = _logs(costs.set_index(_REQUEST)["cost"])
    return floats(logs.groupby(level=_REQUEST).mean().groupby(level="task").mean())


def _logs(values: pd.Series[float]) -> pd.Series[float]:
    kept = values[values > 0]
    return pd.Series(np.log(kept.to_numpy(dtype=np.float64)), index=kept.index)


def _estimated(counted: Comparison, one: Floats, two: Floats) -> Comparison:
    gain = float(one.mean() - two.mean())
    if min(len(one), len(two)) < 2:
        return Comparison(**{**vars(counted), "gain": gain})
    both = CompareMeans(DescrStatsW(one), DescrStatsW(two))
    se = float(both.std_meandiff_separatevar)
    if se < _EXACT:
        return Comparison(**{**vars(counted), "gain": gain})
    _, p, df = both.ttest_ind(usevar="unequal")
    low, high = both.tconfint_diff(alpha=0.05, usevar="unequal")
    numbers = {"low": float(low), "high": float(high), "p": float(p), "df": float(df), "se": se}
    return Comparison(**{**vars(counted), **numbers, "gain": gain, "over": TASKS})


_STARTS = "not the same requests, and what starts of an engine differ by is not in the interval"


def unpaired_verdict(found: Comparison, said: str) -> str:
    """`said`: the verdict as of pairs. Without an interval the reason is another one."""
    if found.gain is None:
        return said
    if found.low is not None:
        return said if found.metric == "prompt_computed" else f"{TOO_FEW}: {_STARTS}"
    return f"{TOO_FEW}: not the same requests, and no interval without two tasks in each run, and spread between them"


def unpaired_note(found: Comparison) -> str:
    """What limits an unpaired result."""
    if found.gain is None:
        return ""
    return "Not paired: what differs between the requests is in the gain, too."
