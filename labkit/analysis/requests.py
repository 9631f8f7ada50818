"""One value per request and arm of each metric that effects are computed on: what is then paired.

Every value is a cost, so that less is better and `log(without) - log(with)` is a gain on every metric: tokens per
second enter as seconds per token. A step that failed, or that was not measured, keeps its row with a null, because it
was sent; so that whoever pairs can count what is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd

from labkit.analysis.gaps import Gaps, Positions, gaps_of
from labkit.analysis.latency import e2e, ntpot, ttft
from labkit.analysis.tables import STEP_KEY, Floats, is_finished, measured, numbers
from labkit.core.arms import ARMS
from labkit.core.errors import BadInput
from labkit.core.records import Cache

Metric = Literal["e2e_s", "ttft_s", "itl_p99_s", "tokens_per_s", "prompt_computed", "joules"]
METRICS: tuple[Metric, ...] = ("e2e_s", "ttft_s", "itl_p99_s", "tokens_per_s", "prompt_computed", "joules")
MIN_GAPS = 10
"""A request with fewer gaps between chunks has no 99th percentile worth the name."""
PASS = ["task", "recording", "agent", "repeat"]
"""One recording sent once by one agent; with the turn, what pairs the requests of one condition and cache state."""
_LABELS = frozenset(arm.label for arm in ARMS)


def sent(frame: pd.DataFrame, cache: Cache, condition: str | None) -> pd.DataFrame:
    """The rows of one condition and cache state in the eight arms, warm-up thrown away.

    `condition`: None when there is only one. Raises BadInput when there are several, or none of that name.
    """
    kept = measured(frame)
    kept = kept[(kept["cache"] == cache) & kept["arm"].isin(_LABELS)]
    there = sorted(map(str, kept["condition"].unique()))
    if condition is None and len(there) < 2:
        return kept
    if condition not in there and there:
        hint = "Effects are of one condition at a time: arms differ in the layers alone."
        raise BadInput("condition", condition, " or ".join(map(repr, there)), hint)
    return kept[kept["condition"] == condition]


def request_costs(steps: pd.DataFrame, chunks: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Columns `arm`, PASS, `turn` and `cost`, one row per step that was sent; `cost` is NaN where there is none."""
    done = is_finished(steps)
    costs = pd.Series(_itl_p99(steps, chunks) if metric == "itl_p99_s" else _OF_STEPS[metric](steps), index=steps.index)
    return steps[["arm", *PASS, "turn"]].assign(cost=costs.where(done).to_numpy(dtype=np.float64))


def _computed(steps: pd.DataFrame) -> pd.Series[float]:
    return pd.Series(numbers(steps, "prompt_tokens") - numbers(steps, "cached_tokens"), index=steps.index)


_OF_STEPS: dict[Metric, Callable[[pd.DataFrame], pd.Series[float]]] = {
    "e2e_s": e2e,
    "ttft_s": ttft,
    "tokens_per_s": ntpot,
    "prompt_computed": _computed,
}


def _itl_p99(steps: pd.DataFrame, chunks: pd.DataFrame) -> list[float]:
    """99th percentile of the gaps of each step's own stream."""
    chunks = measured(chunks)
    gaps, key = gaps_of(chunks), ["arm", *STEP_KEY]
    _, firsts, sizes = np.unique(gaps.stream, return_index=True, return_counts=True)
    p99 = np.where(sizes >= MIN_GAPS, _percentile_99(gaps, firsts, sizes), np.nan)
    named = chunks[key].take(gaps.rows[firsts]).itertuples(index=False, name=None)
    known = dict(zip(named, p99, strict=True))
    return [float(known.get(one, np.nan)) for one in steps[key].itertuples(index=False, name=None)]


def _percentile_99(gaps: Gaps, firsts: Positions, sizes: Positions) -> Floats:
    """Of each stream, linear between the two nearest gaps; all streams in one sort."""
    ordered = gaps.itl_s[np.lexsort((gaps.itl_s, gaps.stream))]
    place = 0.99 * (sizes - 1)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, sizes - 1)
    below, above = ordered[firsts + low], ordered[firsts + high]
    return np.asarray(below + (above - below) * (place - low), dtype=np.float64)
