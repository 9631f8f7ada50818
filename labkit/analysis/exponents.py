"""How fast a sum grows with an agent's steps: the slope of log(sum) against log(steps), 1 for growth in step with them.

It is taken per task and its interval is over tasks (Student's t); with fewer than three tasks over repeats, where those
are at least three, and then it is about those tasks only. A verdict needs five tasks, or three repeats of one task; of
times, two starts of an engine as well. `last_exponent` is the slope between the two largest counts alone: the first
prompt, which every pass pays once, hides the growth of short runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.effect_words import MIN_STARTS, MIN_TASKS, TOO_FEW
from labkit.analysis.inference import estimate
from labkit.analysis.passes import passes
from labkit.analysis.starts import starts_of
from labkit.analysis.tables import Floats, measured, numbers, typed_frame
from labkit.core.columns import column
from labkit.core.records import Record

MIN_UNITS = 3
"""Fewer tasks, or repeats, have no interval."""
MEASURES = ("prompt_computed", "e2e_s")
_EXACT = 1e-9
"""A slope this near to 1 is 1 and rounding."""


@dataclass(frozen=True, kw_only=True)
class ExponentRow(Record):
    """How fast one sum grows with the steps in one arm."""

    arm: str = column("string", "", "label of the arm")
    measure: str = column("string", "", "`prompt_computed` or `e2e_s`")
    exponent: float | None = column("float64", "", "log-log slope against the steps, mean over units", nullable=True)
    low: float | None = column("float64", "", "95 % interval of the exponent, low end", nullable=True)
    high: float | None = column("float64", "", "95 % interval of the exponent, high end", nullable=True)
    last_exponent: float | None = column("float64", "", "the same between the two largest counts", nullable=True)
    counts: str = column("string", "", "the counts of steps that it is over")
    n_units: int = column("int64", "", "slopes that the mean is over")
    n_starts: int = column("int64", "", "starts of an engine that it was measured on")
    over: str = column("string", "", "what the units are: `tasks`, or repeats of few tasks")
    verdict: str = column("string", "", "what the interval says, in words")


def exponent_table(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per arm and measure with at least two counts of steps; columns as ExponentRow declares them."""
    table = passes(steps)
    table = table[table["whole"]]
    rows, starts = [], starts_of(measured(steps))
    for arm in in_order(table["arm"]):
        for measure in MEASURES:
            of = table[(table["arm"] == arm) & (numbers(table, measure) > 0)]
            if of["steps"].nunique() > 1:
                rows.append(_exponent(arm, measure, of, len(starts.of(arm, of["repeat"].unique()))))
    return typed_frame(ExponentRow, rows)


def _exponent(arm: str, measure: str, of: pd.DataFrame, n_starts: int) -> ExponentRow:
    n_tasks = int(of["task"].nunique())
    by_task = n_tasks >= MIN_UNITS
    unit = ["task"] if by_task else ["task", "recording", "repeat"]
    slopes = _slopes(of, measure, unit)
    last = _slopes(of[of["steps"].isin(sorted(of["steps"].unique())[-2:])], measure, unit)
    told = estimate(slopes) if len(slopes) >= MIN_UNITS else None
    low, high = (float(told.low), float(told.high)) if told else (None, None)
    return ExponentRow(
        arm=arm,
        measure=measure,
        exponent=float(slopes.mean()) if len(slopes) else None,
        low=low,
        high=high,
        last_exponent=float(last.mean()) if len(last) else None,
        counts=", ".join(str(count) for count in sorted(of["steps"].unique())),
        n_units=len(slopes),
        over="tasks" if by_task else f"repeats of {'one task' if n_tasks == 1 else f'{n_tasks} tasks'}",
        n_starts=n_starts,
        verdict=_verdict(low, high, n_tasks, n_starts if measure == "e2e_s" else MIN_STARTS),
    )


def _slopes(of: pd.DataFrame, measure: str, unit: list[str]) -> Floats:
    """The log-log slope of each unit that has two counts or more; repeats of one count are averaged first."""
    logs = of.assign(x=np.log(numbers(of, "steps")), y=np.log(numbers(of, measure)))
    slopes = []
    for _, mine in logs.groupby(unit, sort=True):
        means = mine.groupby("x")["y"].mean()
        if len(means) > 1:
            slopes.append(np.polyfit(means.index.to_numpy(), means.to_numpy(), 1)[0])
    return np.asarray(slopes, dtype=np.float64)


def _verdict(low: float | None, high: float | None, n_tasks: int, n_starts: int) -> str:
    if low is None or high is None or 1 < n_tasks < MIN_TASKS or n_starts < MIN_STARTS:
        return TOO_FEW
    alone = ", on this one task" if n_tasks == 1 else ""
    if low > 1 + _EXACT:
        return f"faster than the steps{alone}"
    return f"slower than the steps{alone}" if high < 1 - _EXACT else "not to be told from in step with them"
