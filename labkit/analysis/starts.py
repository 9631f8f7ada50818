"""Which starts of an engine served which arm: what an interval over starts is worth follows from how many there were.

A start is slower or faster as a whole, so repeats that share one say nothing of what starts differ by; and two arms
that share one differ by less than two starts do. The id that a step keeps of its engine is one start's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import pandas as pd

from labkit.analysis.tables import is_finished


@dataclass(frozen=True)
class Starts:
    """`ids`: arm and repeat to the ids of the engines that finished a step of it."""

    ids: Mapping[tuple[str, int], frozenset[str]] = field(default_factory=dict)

    def of(self, arm: str, repeats: Collection[int]) -> frozenset[str]:
        """The starts of one arm in these repeats."""
        return frozenset().union(*(self.ids.get((arm, repeat), frozenset()) for repeat in repeats))

    def fewest(self, arms: Collection[str], repeats: Collection[int]) -> int:
        """Starts of the arm that has the fewest."""
        return min((len(self.of(arm, repeats)) for arm in arms), default=0)

    def shared(self, arms: Collection[str], repeats: Collection[int]) -> tuple[tuple[str, str], ...]:
        """The pairs of arms that were, in these repeats, served by one start between them."""
        ids = {arm: self.of(arm, repeats) for arm in arms}
        return tuple((one, other) for one, other in combinations(ids, 2) if ids[one] & ids[other])


def starts_of(steps: pd.DataFrame) -> Starts:
    """From the steps that are compared, each under the arm that it stands for."""
    done = steps[is_finished(steps)]
    seen = done[["arm", "repeat", "engine"]].drop_duplicates()
    ids: dict[tuple[str, int], set[str]] = {}
    for arm, repeat, engine in seen.itertuples(index=False, name=None):
        ids.setdefault((str(arm), int(repeat)), set()).add(str(engine))
    return Starts({block: frozenset(engines) for block, engines in ids.items()})
