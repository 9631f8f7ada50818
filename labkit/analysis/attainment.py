"""The share of requests that met a goal, and how sure that is.

Requests of one agent-run are alike, so n of them tell less than n independent ones would. How much less is the *design
effect*: the variance of the share between agent-runs over the binomial one (Kish, Survey Sampling, 1965), pooled over
the levels where some requests met the goal and some did not, and never below 1. The interval is the equal-tailed one of
Jeffreys' Beta(good + 1/2, bad + 1/2) with both counts divided by it; unlike a bootstrap it does not shrink to a point
when every request met the goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from labkit.analysis.tables import Floats

Counts = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, kw_only=True)
class Attained:
    """Of `sent` requests, `good` met the goal; `weight` of the counts is left once runs are known to be alike."""

    good: int
    sent: int
    weight: float = 1.0

    @property
    def share(self) -> float:
        """Good over sent."""
        return self.good / self.sent

    @property
    def interval(self) -> tuple[float, float]:
        """95 %."""
        low, high = self._beta().ppf([0.025, 0.975])
        return float(low), float(high)

    def draws(self, count: int, dice: np.random.Generator) -> Floats:
        """Shares as likely as the data make them."""
        return np.asarray(self._beta().rvs(size=count, random_state=dice), dtype=np.float64)

    def _beta(self) -> stats.rv_frozen:
        return stats.beta(self.weight * self.good + 0.5, self.weight * (self.sent - self.good) + 0.5)


def attained(levels: Sequence[tuple[Counts, Counts]]) -> list[Attained]:
    """For each level, from its agent-runs' counts of good and of sent requests (at least one of them)."""
    weight = 1 / design_effect(levels)
    return [Attained(good=int(good.sum()), sent=int(sent.sum()), weight=weight) for good, sent in levels]


def design_effect(levels: Sequence[tuple[Counts, Counts]]) -> float:
    """Pooled over levels, weighted by what was sent; 1 where nothing can be said."""
    known = [(effect, int(sent.sum())) for good, sent in levels if (effect := _effect(good, sent)) is not None]
    if not known:
        return 1.0
    effects, weights = zip(*known, strict=True)
    return max(1.0, float(np.average(effects, weights=weights)))


def _effect(good: Counts, sent: Counts) -> float | None:
    runs, total = len(sent), int(sent.sum())
    share = good.sum() / total
    if runs < 2 or share in (0, 1):
        return None
    between = runs / (runs - 1) * float(((good - share * sent) ** 2).sum()) / total**2
    return float(between / (share * (1 - share) / total))
