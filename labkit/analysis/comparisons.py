"""One metric's contrasts, estimated from pairs: the step from requests to a mean with its interval.

With two tasks or more the interval is about tasks: would it hold for other tasks like these? With one task it can only
be about repeats of that task, and needs three. Joules are read per pass over all tasks, so they are about repeats, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from labkit.analysis.contrasts import Contrast
from labkit.analysis.inference import BlockNoise, block_noise, estimate
from labkit.analysis.paired import Pairs, measured_arms, pairs
from labkit.analysis.requests import Metric
from labkit.analysis.tables import Floats

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
    n_left_out: int = 0
    n_zero: int = 0
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    df: float | None = None
    p: float | None = None
    block_sd: float | None = None
    skew: float | None = None
    over: str = ""


def compared(metric: Metric, costs: pd.DataFrame, contrasts: Sequence[Contrast]) -> list[Comparison]:
    """Each contrast over the pairs that its own arms have. `costs`: as `request_costs` gives them."""
    summed = metric == "prompt_computed"
    noise = _noise(pairs(costs, measured_arms(costs), summed))
    of_arms: dict[tuple[str, ...], Pairs] = {
        arms: pairs(costs, arms, summed) for arms in {one.arms for one in contrasts} if arms
    }
    return [_comparison(metric, one, of_arms.get(one.arms), noise) for one in contrasts]


def _noise(every: Pairs) -> BlockNoise | None:
    """How much blocks differ, from the requests that all arms have: a property of the run, not of one contrast."""
    return None if every.logs.empty else block_noise(every.cells())


def _comparison(metric: Metric, contrast: Contrast, found: Pairs | None, noise: BlockNoise | None) -> Comparison:
    if found is None:
        return Comparison(name=contrast.name, metric=metric, missing=contrast.missing)
    counted = Comparison(
        name=contrast.name,
        metric=metric,
        arms_used=contrast.arms,
        n_requests=found.n_requests,
        n_tasks=len(found.tasks),
        n_repeats=len(found.repeats),
        n_left_out=found.n_left_out,
        n_zero=found.n_zero,
    )
    return counted if found.logs.empty else _estimated(counted, contrast, found, noise)


def _estimated(counted: Comparison, contrast: Contrast, found: Pairs, noise: BlockNoise | None) -> Comparison:
    by_task = contrast.of(found.by_task, found.arms)
    if len(by_task) > 1:
        sd = None if noise is None else float(np.sqrt(noise.between))
        return _with(counted, by_task, TASKS, contrast.square, noise, sd)
    by_repeat = contrast.of(found.by_repeat, found.arms)
    if len(by_repeat) >= MIN_REPEATS:
        return _with(counted, by_repeat, RUN_REPEATS if counted.metric == "joules" else REPEATS)
    return Comparison(**{**vars(counted), "gain": float(by_task[0])})


def _with(
    counted: Comparison,
    units: Floats,
    over: str,
    square: float = 0.0,
    noise: BlockNoise | None = None,
    block_sd: float | None = None,
) -> Comparison:
    found = estimate(units, square, noise)
    numbers = {name: float(getattr(found, name)) for name in ("low", "high", "se", "df", "p")}
    numbers["skew"] = float(stats.skew(units)) if np.ptp(units) > 1e-9 else 0.0
    return Comparison(**{**vars(counted), **numbers, "gain": float(found.mean), "over": over, "block_sd": block_sd})
