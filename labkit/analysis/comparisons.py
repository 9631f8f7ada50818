"""One metric's contrasts, estimated from pairs: the step from requests to a mean with its interval.

With two tasks or more the interval is about tasks: would it hold for other tasks like these? With one task it can only
be about repeats of that task, and needs three. Joules are read per pass over all tasks, so they are about repeats, too.
Whether a result is worth a verdict depends on the starts of engines that it rests on, so these are counted beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from labkit.analysis.contrasts import Contrast
from labkit.analysis.inference import BlockNoise, Estimate, block_noise, estimate, estimate_repeats
from labkit.analysis.paired import Pairs, measured_arms, pairs, repeated
from labkit.analysis.requests import Metric
from labkit.analysis.starts import Starts

MIN_REPEATS = 3
"""Repeats that an interval over repeats needs."""
TASKS, REPEATS, RUN_REPEATS = "tasks", "repeats of one task", "repeats of the run"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One contrast of one metric, on the log scale. None: could not be told; `missing` names arms without a value."""

    name: str
    metric: Metric
    arms_used: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    n_requests: int = 0
    n_tasks: int = 0
    n_repeats: int = 0
    n_starts: int = 0
    """Starts of an engine in the arm that has the fewest."""
    shared: tuple[tuple[str, str], ...] = ()
    """Arms that a start served between them."""
    n_left_out: int = 0
    n_zero: int = 0
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    df: float | None = None
    p: float | None = None
    block_sd: float | None = None
    block_df: int | None = None
    """Degrees of freedom of what starts differ by; None: not estimated."""
    block_arms: int = 0
    """Arms that it is estimated from."""
    skew: float | None = None
    over: str = ""


def compared(
    metric: Metric,
    costs: pd.DataFrame,
    contrasts: Sequence[Contrast],
    starts: Starts,
    arms: Sequence[str] | None = None,
) -> list[Comparison]:
    """Each contrast over the pairs that its own arms have. `costs`: as `request_costs` gives them.

    `starts`: of the steps that the costs are of. `arms`: all that tell how much starts differ; None: those of the lab.
    """
    summed = metric == "prompt_computed"
    every = pairs(costs, repeated(costs, measured_arms(costs) if arms is None else arms), summed)
    noise = None if every.logs.empty else block_noise(every.cells())
    of_arms: dict[tuple[str, ...], Pairs] = {
        arms: pairs(costs, arms, summed) for arms in {one.arms for one in contrasts} if arms
    }
    return [_comparison(metric, one, of_arms.get(one.arms), every, noise, starts) for one in contrasts]


def _comparison(
    metric: Metric, contrast: Contrast, found: Pairs | None, every: Pairs, noise: BlockNoise | None, starts: Starts
) -> Comparison:
    if found is None:
        return Comparison(name=contrast.name, metric=metric, missing=contrast.missing)
    counted = Comparison(
        name=contrast.name,
        metric=metric,
        arms_used=contrast.arms,
        n_requests=found.n_requests,
        n_tasks=len(found.tasks),
        n_repeats=len(found.repeats),
        n_starts=starts.fewest(contrast.arms, found.repeats),
        shared=starts.shared(dict.fromkeys((*every.arms, *contrast.arms)), found.repeats),
        n_left_out=found.n_left_out,
        n_zero=found.n_zero,
    )
    if found.logs.empty:
        return counted
    return (
        _over_tasks(counted, contrast, found, noise)
        if counted.n_tasks > 1
        else _of_one(counted, contrast, found, every)
    )


def _over_tasks(counted: Comparison, contrast: Contrast, found: Pairs, noise: BlockNoise | None) -> Comparison:
    """`noise` is that of all arms: how much blocks differ is a property of the run. Else that of the contrast's own.

    It counts by the repeats that the contrast has itself: an arm that ended early has fewer.
    """
    units, own = contrast.of(found.by_task, found.arms), found.cells()
    noise = block_noise(own) if noise is None else replace(noise, repeats=max(own.shape[-1], 1))
    numbers = _numbers(estimate(units, contrast.square, noise))
    skew = float(stats.skew(units)) if np.ptp(units) > 1e-9 else 0.0
    sd = None if noise is None else float(np.sqrt(noise.between))
    df, arms = (None, len(found.arms)) if noise is None else (noise.block_df, noise.arms)
    return replace(counted, **numbers, over=TASKS, skew=skew, block_sd=sd, block_df=df, block_arms=arms)


def _of_one(counted: Comparison, contrast: Contrast, found: Pairs, every: Pairs) -> Comparison:
    """One task: over its repeats, with the error of all arms where these have as many repeats as it takes."""
    gain = contrast.of(found.by_task, found.arms)
    if counted.n_repeats < MIN_REPEATS:
        return replace(counted, gain=float(gain[0]))
    table = (every if len(every.repeats) >= MIN_REPEATS else found).by_repeat.T
    over = RUN_REPEATS if counted.metric == "joules" else REPEATS
    return replace(counted, **_numbers(estimate_repeats(gain, contrast.square, table)), over=over)


def _numbers(found: Estimate) -> dict[str, Any]:
    values = {name: getattr(found, name) for name in ("low", "high", "se", "df", "p")}
    return {name: float(np.ravel(value)[0]) for name, value in {**values, "gain": found.mean}.items()}
