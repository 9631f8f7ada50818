"""A mean with its interval from a handful of clusters, counting what differs between two starts of an engine.

Tasks differ in how much a layer gains them, so the task is the unit: Student's t on the tasks' means of the paired log
contrasts, with tasks - 1 degrees of freedom. That treats all steps of a task as one observation, which is what keeps
its false positives at 5 % with five tasks; the simulation beside this file compares it with its rivals.

A block (one start of one arm's engine) is slower or faster as a whole, in all tasks alike. Spread between tasks cannot
show that. Repeats do: the variance of blocks is estimated over all arms by the method of moments, from the residual of
the arm x repeat table against the residual of the task x arm x repeat table (a crossed random-effects analysis of
variance; Searle, Casella and McCulloch 1992, ch. 4), and added. Degrees of freedom: Satterthwaite 1946.

Every function takes arrays with any leading axes (and numpy's broadcasting between them), so that a thousand simulated
experiments go through the very code that a real one does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from labkit.analysis.tables import Floats
from labkit.core.errors import BadInput

_EXACT = 1e-12
"""Log contrasts below this are rounding of equal numbers, not effects."""


@dataclass(frozen=True, kw_only=True)
class BlockNoise:
    """How much blocks differ as wholes. `block`, `rest`: mean squares over tasks, and per (task, arm, repeat).

    `between` = block - rest / tasks estimates the variance of blocks; noise can take it below 0, which counts as 0.
    """

    block: Floats
    block_df: int
    rest: Floats
    rest_df: int
    tasks: int
    repeats: int
    arms: int

    @property
    def between(self) -> Floats:
        """Variance of one block's log effect."""
        return np.maximum(self.block - self.rest / self.tasks, 0.0)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Means of contrasts on the log scale, with their standard errors, degrees of freedom, 95 % intervals and p."""

    mean: Floats
    se: Floats
    df: Floats
    low: Floats
    high: Floats
    p: Floats


def block_noise(cells: Floats) -> BlockNoise | None:
    """From log means per task, arm and repeat (the last three axes). None with fewer than two of any of them."""
    tasks, arms, repeats = cells.shape[-3:]
    if min(tasks, arms, repeats) < 2:
        return None
    over_tasks = cells.mean(axis=-3)
    block = _centred(_centred(over_tasks, -1), -2)
    rest = _centred(_centred(_centred(cells, -1), -2), -3)
    block_df, rest_df = (arms - 1) * (repeats - 1), (tasks - 1) * (arms - 1) * (repeats - 1)
    return BlockNoise(
        block=(block**2).sum(axis=(-2, -1)) / block_df,
        block_df=block_df,
        rest=(rest**2).sum(axis=(-3, -2, -1)) / rest_df,
        rest_df=rest_df,
        tasks=tasks,
        repeats=repeats,
        arms=arms,
    )


def estimate(units: Floats, square: Floats | float = 0.0, noise: BlockNoise | None = None) -> Estimate:
    """The mean over the last axis of `units` (log contrasts of tasks, or of repeats), at least two of them.

    `square`: the sum of each contrast's squared arm weights, which is what block noise counts in it. Raises BadInput.
    """
    if units.shape[-1] < 2:
        raise BadInput("units", units.shape[-1], "two or more, to have a spread")
    units = np.where(np.abs(units) < _EXACT, 0.0, units)
    mean, variance = units.mean(axis=-1), units.var(axis=-1, ddof=1) / units.shape[-1]
    df = np.full(mean.shape, units.shape[-1] - 1.0)
    if noise is not None:
        variance, df = _with_blocks(variance, df, np.asarray(square), noise)
    return _student(mean, np.sqrt(variance), df)


def estimate_repeats(mean: Floats, square: Floats | float, table: Floats) -> Estimate:
    """Of one task: contrasts, and the spread between repeats as their error. `table`: log means, arms x repeats.

    The error is pooled over all arms, the residual of the arm x repeat table, since three repeats of one contrast would
    leave two degrees of freedom. Raises BadInput with fewer than two arms or repeats.
    """
    arms, repeats = table.shape[-2:]
    if min(arms, repeats) < 2:
        raise BadInput("table", table.shape[-2:], "two arms and two repeats or more")
    df = (arms - 1) * (repeats - 1)
    error = (_centred(_centred(table, -1), -2) ** 2).sum(axis=(-2, -1)) / df
    mean = np.where(np.abs(mean) < _EXACT, 0.0, mean)
    return _student(mean, np.sqrt(np.asarray(square) * error / repeats), np.full(mean.shape, float(df)))


def _student(mean: Floats, se: Floats, df: Floats) -> Estimate:
    reach = stats.t.ppf(0.975, df) * se
    return Estimate(mean=mean, se=se, df=df, low=mean - reach, high=mean + reach, p=_p(mean, se, df))


def _with_blocks(variance: Floats, df: Floats, square: Floats, noise: BlockNoise) -> tuple[Floats, Floats]:
    """Variance of the mean and its degrees of freedom, with what blocks add. Where they add nothing, as it was."""
    share = square / noise.repeats
    block, rest = share * noise.block, share * noise.rest / noise.tasks
    whole = variance + np.maximum(block - rest, 0.0)
    parts = variance**2 / df + block**2 / noise.block_df + rest**2 / noise.rest_df
    adds = (block > rest) & (parts > 0)
    return whole, np.where(adds, whole**2 / np.where(parts > 0, parts, 1.0), df)


def _p(mean: Floats, se: Floats, df: Floats) -> Floats:
    """Two-sided; without any spread, 1 for no effect and 0 for one."""
    t = np.abs(mean) / np.where(se > 0, se, 1.0)
    return np.where(se > 0, 2 * stats.t.sf(t, df), np.where(mean == 0, 1.0, 0.0))


def _centred(values: Floats, axis: int) -> Floats:
    return np.asarray(values - values.mean(axis=axis, keepdims=True), dtype=np.float64)
