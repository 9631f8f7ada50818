"""The steps that two arms both finished, the same requests: what every sentence of a finding is about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from labkit.analysis.acceptance import Acceptance, acceptance
from labkit.analysis.arms import ratio
from labkit.analysis.cache import CacheUse, cache_use
from labkit.analysis.latency import percentile, tpot, ttft
from labkit.analysis.tables import STEP_KEY, is_finished, numbers, total


@dataclass(frozen=True)
class Pairs:
    """Rows of `here` (the arm) and `there` (what it is set against), the same STEP_KEYs. Seconds are sums over them."""

    arm: str
    against: str
    here: pd.DataFrame
    there: pd.DataFrame
    n: int
    ratio: float | None
    arm_s: float | None
    against_s: float | None
    laps: int

    @property
    def n_words(self) -> str:
        """`8 steps`."""
        return "1 step" if self.n == 1 else f"{self.n} steps"

    @cached_property
    def cache(self) -> tuple[CacheUse, CacheUse]:
        """Of the arm, of the other."""
        return cache_use(self.here), cache_use(self.there)

    @cached_property
    def accepted(self) -> Acceptance:
        """The arm's."""
        return acceptance(self.here)

    @cached_property
    def first_s(self) -> tuple[float | None, float | None]:
        """Median seconds to the first token, of the arm, of the other."""
        return percentile(ttft(self.here), 50), percentile(ttft(self.there), 50)

    @cached_property
    def token_s(self) -> tuple[float | None, float | None]:
        """Median seconds of an output token after the first."""
        return percentile(tpot(self.here), 50), percentile(tpot(self.there), 50)

    @cached_property
    def transfer_s(self) -> float | None:
        """Mean seconds of KV transfer in a step of the arm."""
        known = self.here["transfer_s"].dropna()
        return float(known.mean()) if len(known) else None

    @cached_property
    def tokens(self) -> tuple[float | None, float | None]:
        """Generated tokens, summed."""
        return total(numbers(self.here, "completion_tokens")), total(numbers(self.there, "completion_tokens"))


def paired(there: pd.DataFrame, here: pd.DataFrame, against: str, arm: str) -> Pairs:
    """`there`, `here`: steps that count, of one run or of two, of any arms."""
    mine, theirs = here[here["arm"] == arm], there[there["arm"] == against]
    mine, theirs = mine[is_finished(mine)], theirs[is_finished(theirs)]
    a, b = _keys(mine), _keys(theirs)
    mine, theirs = mine[a.isin(b)], theirs[b.isin(a)]
    both = pd.concat([theirs.assign(arm="there"), mine.assign(arm="here")], ignore_index=True)
    of = ratio(both, "there", "here")
    laps = mine[["repeat", "task", "recording", "condition"]].drop_duplicates()
    return Pairs(arm, against, mine, theirs, of.n_pairs, of.ratio, of.arm_s, of.base_s, _laps(laps))


def _keys(rows: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(rows[STEP_KEY].astype(object))


def _laps(passes: pd.DataFrame) -> int:
    """How often the same requests were measured."""
    if not len(passes):
        return 0
    return int(passes.groupby(["task", "recording", "condition"]).size().max())
