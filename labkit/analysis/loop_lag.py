"""How late the client's event loop ran while steps were under way, from the readings that were kept once a second.

What the loop did meanwhile else (an engine is started, a table is written) delays no stamp and is left out.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from labkit.analysis.tables import Floats, numbers


def while_steps_ran(samples: pd.DataFrame, steps: pd.DataFrame) -> pd.DataFrame:
    """Readings that cover some time in which a measured step was under way; each covers the time since the one before.

    A step overlaps (before, t] unless it began at t or later, or ended before the reading before.
    """
    if not len(steps) or not len(samples):
        return samples.iloc[:0]
    times = np.unique(numbers(samples, "t"))
    before = np.concatenate([[-np.inf], times[:-1]])
    ends = numbers(steps, "t_end")
    begun = np.searchsorted(np.sort(numbers(steps, "t_send")), times, side="left")
    over = np.searchsorted(np.sort(ends[~np.isnan(ends)]), before, side="right")
    busy = times[begun > over]
    return samples[np.isin(numbers(samples, "t"), busy)]


def loop_lags(samples: pd.DataFrame) -> Floats:
    """The loop's ticks, rebuilt from each reading's count, median, p99 and maximum: a pool to take percentiles of.

    The latest tick of each reading is exact, the others lie on straight lines between the known percentiles: a pool's
    p99 is right to a tick a second.
    """
    names = ("loop_ticks", "loop_lag_p50", "loop_lag_p99", "loop_lag_max")
    table = samples[samples["name"].isin(names)].pivot_table(index="t", columns="name", values="value")
    if not set(names) <= set(table.columns):
        return np.zeros(0)
    rows = table[list(names)].dropna().to_numpy(dtype=np.float64)
    pools = [_ticks(int(count), p50, p99, top) for count, p50, p99, top in rows]
    return np.concatenate(pools) if pools else np.zeros(0)


def _ticks(count: int, p50: float, p99: float, top: float) -> Floats:
    at = np.linspace(0.0, 1.0, count) if count > 1 else np.ones(count)
    return np.interp(at, [0.0, 0.5, 0.99, 1.0], [0.0, p50, p99, top])
