"""When speculation costs more than it gives: the decode time of each step with drafts against the same step without.

A pair counts where both replies have as many tokens: a drafter changes what a token costs, and another length would
change the time for a reason of its own. What is said of acceptance is a description of these steps, no model: below
which share of accepted tokens every step lost, if there is such a share.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from labkit.analysis.drafter_gain import PAIR_KEY, reference
from labkit.analysis.drafters import by_method
from labkit.analysis.format import percent
from labkit.analysis.ratios import MIN_STEPS
from labkit.analysis.tables import is_finished, numbers
from labkit.experiments.report.english import counted

_COLUMNS = ["method", "rate", "gain", "kind", "turn", "task", "repeat"]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One drafter. `n`: pairs; `n_lost`: pairs in which it cost time; `n_other`: pairs of another length, left out.

    `low`, `high`: acceptance of the steps that lost, lowest and highest; `apart`: no step that gained had less than
    `high`; `alike`: every step had one acceptance, whether it lost or gained.
    """

    method: str
    n: int = 0
    n_lost: int = 0
    n_other: int = 0
    low: float | None = None
    high: float | None = None
    apart: bool = False
    alike: bool = False

    @property
    def words(self) -> str:
        """The finding: `below 24 % acceptance it cost time: 3 of 30 steps`."""
        if not self.n:
            if self.n_other:
                pairs = counted(self.n_other, "pair")
                return f"all {pairs} wrote replies of different lengths, so what drafts cost is not known"
            return "no step was measured both with drafts and without, so what they cost is not known"
        few = " (too few to tell)" if self.n < MIN_STEPS else ""
        if not self.n_lost or self.low is None or self.high is None:
            return f"it cost time in none of {counted(self.n, 'step')}{few}"
        steps = f"{self.n_lost} of {counted(self.n, 'step')}{few}"
        if self.n_lost == self.n:
            return f"it cost time in all of {counted(self.n, 'step')}{few}, whatever was accepted"
        if self.apart:
            return f"up to {percent(self.high)} acceptance it cost time: {steps}"
        low, high = percent(self.low), percent(self.high)
        if self.alike:
            return f"it cost time in {steps}; all had {low} accepted, so acceptance does not tell them apart"
        return (
            f"it cost time in {steps}, at {low if low == high else f'{low} to {high}'} acceptance, where others gained"
        )


def gains(rows: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """One row per pair: method, rate (accepted / drafted), gain (decode time without / with), kind, turn, task, repeat.

    `rows`: as `layers_drafts.drafters` gives them. Also, per drafter, how many pairs had replies of other lengths.
    """
    kept = rows[is_finished(rows) & (rows["mode"] != "pinned")]
    found, other = [], {}
    for method, mine in by_method(kept):
        pairs = mine.merge(reference(kept, method), on=PAIR_KEY, suffixes=("", "_without"))
        same = pairs["completion_tokens"] == pairs["completion_tokens_without"]
        same = same.fillna(False).astype(bool)
        other[method] = int((~same).sum())
        found.append(_gains(pairs[same], method))
    return (pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=_COLUMNS)), other


def cost(table: pd.DataFrame, method: str, n_other: int = 0) -> Cost:
    """Of one drafter's rows of `gains`."""
    mine = table[table["method"] == method]
    lost = mine[mine["gain"] < 1]
    if not len(lost):
        return Cost(method=method, n=len(mine), n_other=n_other)
    won, high = mine[mine["gain"] >= 1], float(lost["rate"].max())
    return Cost(
        method=method,
        n=len(mine),
        n_lost=len(lost),
        n_other=n_other,
        low=float(lost["rate"].min()),
        high=high,
        apart=bool((won["rate"] > high).all()),
        alike=bool(mine["rate"].nunique() == 1),
    )


def _gains(pairs: pd.DataFrame, method: str) -> pd.DataFrame:
    drafted, accepted = numbers(pairs, "drafted_tokens"), numbers(pairs, "accepted_tokens")
    with_it = numbers(pairs, "t_last") - numbers(pairs, "t_first_token")
    without = numbers(pairs, "t_last_without") - numbers(pairs, "t_first_token_without")
    told = (drafted > 0) & (with_it > 0) & (without > 0)
    kept = pairs[told]
    return pd.DataFrame(
        {
            "method": method,
            "rate": accepted[told] / drafted[told],
            "gain": without[told] / with_it[told],
            **{name: kept[name].to_numpy() for name in ("kind", "turn", "task", "repeat")},
        }
    )[_COLUMNS]
