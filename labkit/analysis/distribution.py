"""How times are distributed: for each time, the share of all that took no longer (the empirical distribution function).

Shares are of all that were sent: a failed request has no time and never counts as answered, so the curve of an arm that
failed some ends below 1. A curve has at most POINTS points, however many values it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.latency import e2e, itl, ttft
from labkit.analysis.tables import Floats, floats, is_finished, measured

Timed = Literal["ttft", "e2e", "itl"]
POINTS = 200


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """One arm: `shares[i]` (0 to 1) of `n` values took at most `seconds[i]`. The first point has the share 0.

    `n`: all that were sent, of which `n_lost` came to no value. `median`: where half of all is reached; None when the
    curve ends before.
    """

    arm: str
    seconds: tuple[float, ...]
    shares: tuple[float, ...]
    n: int
    n_lost: int
    median: float | None


def distributions(rows: pd.DataFrame, timed: Timed) -> tuple[Distribution, ...]:
    """One for each arm that has a value, in the order of ARMS. `rows`: steps, or chunks for `itl`; no warm-up."""
    arms, values = _times(measured(rows), timed)
    found = (distribution(arm, values[(arms == arm).to_numpy(dtype=bool)]) for arm in in_order(arms))
    return tuple(one for one in found if one.seconds)


def distribution(arm: str, values: Floats) -> Distribution:
    """Of these values; NaN: sent, and never answered."""
    known = np.sort(values[~np.isnan(values)])
    seconds, shares = thinned(known, values.size)
    half = max(1, -(-values.size // 2))
    return Distribution(
        arm=arm,
        seconds=seconds,
        shares=shares,
        n=values.size,
        n_lost=values.size - known.size,
        median=float(known[half - 1]) if known.size >= half else None,
    )


def thinned(known: Floats, of: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Sorted values and their shares `of` all: every value, or of many values POINTS in equal steps, both ends kept."""
    if not known.size:
        return (), ()
    ranks = np.arange(1, known.size + 1)
    if known.size >= POINTS:
        ranks = np.linspace(1, known.size, POINTS - 1).round().astype(int)
    seconds = [float(known[0]), *(float(known[rank - 1]) for rank in ranks)]
    return tuple(seconds), (0.0, *(float(rank) / of for rank in ranks))


def _times(rows: pd.DataFrame, timed: Timed) -> tuple[pd.Series[str], Floats]:
    """The arm of each value, and the value; NaN where a request has none."""
    if timed == "itl":
        gaps = itl(rows)
        return gaps["arm"], floats(gaps["itl_s"])
    taken = (ttft if timed == "ttft" else e2e)(rows)
    return rows["arm"], floats(taken.where(is_finished(rows)))
