"""Pairs: the same request in every arm that a contrast compares, or not at all.

A request that failed, or was not measured, in one of the arms leaves all of them, and is counted. A pass that some arm
never began (the block that is repeated at the end to see drift, an arm that ended early) has no partner and is no loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from labkit.analysis.requests import PASS
from labkit.analysis.tables import Floats
from labkit.core.arms import ARMS

_REQUEST = ["task", "recording", "agent", "turn"]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Log costs of the requests that every arm has: `logs` has PASS (and `turn`) as its index and `arms` as columns.

    `n_requests`: distinct requests, whatever their repeats. `n_left_out`: requests of shared passes (each repeat
    counted) that some arm lacks. `n_zero`: passes left out because an arm's sum was 0, which has no logarithm.
    """

    logs: pd.DataFrame
    n_requests: int
    n_left_out: int
    n_zero: int = 0

    @property
    def arms(self) -> tuple[str, ...]:
        return tuple(map(str, self.logs.columns))

    @cached_property
    def tasks(self) -> list[str]:
        return sorted(set(self.logs.index.get_level_values("task")))

    @cached_property
    def repeats(self) -> list[int]:
        return sorted(set(self.logs.index.get_level_values("repeat")))

    @cached_property
    def by_task(self) -> Floats:
        """Task x arm: each request's mean over its repeats, then the task's mean over its requests."""
        requests = [name for name in _REQUEST if name in self.logs.index.names]
        return self.logs.groupby(level=requests).mean().groupby(level="task").mean().to_numpy(dtype=np.float64)

    @cached_property
    def by_repeat(self) -> Floats:
        """Repeat x arm: the mean over the requests of each repeat."""
        return self.logs.groupby(level="repeat").mean().to_numpy(dtype=np.float64)

    def cells(self) -> Floats:
        """Task x arm x repeat, of the repeats that every task has."""
        means = self.logs.groupby(level=["task", "repeat"]).mean()
        each = [means.xs(repeat, level="repeat").reindex(self.tasks) for repeat in self.repeats]
        whole = [table.to_numpy(dtype=np.float64) for table in each if not table.isna().to_numpy().any()]
        return np.stack(whole, axis=-1) if whole else np.empty((len(self.tasks), len(self.arms), 0))


def measured_arms(costs: pd.DataFrame) -> list[str]:
    """The arms with any value, in the order of ARMS."""
    there = set(costs.loc[costs["cost"].notna(), "arm"].unique())
    return [arm.label for arm in ARMS if arm.label in there]


def repeated(costs: pd.DataFrame, arms: Sequence[str]) -> list[str]:
    """Of these arms those with a value in two repeats or more; all of them where none has.

    An arm that ended in its first repeat would leave no repeat that all arms have.
    """
    repeats = costs[costs["cost"].notna()].groupby("arm")["repeat"].nunique()
    return [arm for arm in arms if repeats.get(arm, 0) > 1] or list(arms)


def pairs(costs: pd.DataFrame, arms: Sequence[str], summed: bool = False) -> Pairs:
    """Pair the rows of `request_costs` over `arms`.

    `summed`: add the costs of a pass up before the logarithm (tokens, which are weighted by tokens). A request that was
    sent more than once to one arm in a repeat counts once, with its mean.
    """
    costs = _shared_passes(costs[costs["arm"].isin(arms)], len(arms))
    wide = costs.groupby([*PASS, "turn", "arm"])["cost"].mean().unstack("arm").reindex(columns=list(arms))
    positive = wide if summed else wide.where(wide > 0)
    whole = positive.dropna()
    requests = len(whole.reset_index()[_REQUEST].drop_duplicates())
    lost, table = len(positive) - len(whole), whole
    if summed:
        table = whole.groupby(level=PASS).sum()
    some = (table > 0).all(axis=1)
    logs = table[some].apply(np.log)
    return Pairs(logs=logs, n_requests=requests, n_left_out=lost, n_zero=int((~some).sum()))


def _shared_passes(costs: pd.DataFrame, arms: int) -> pd.DataFrame:
    """The rows of passes that every arm began."""
    began = costs.groupby(PASS)["arm"].transform("nunique")
    return costs[began == arms]
