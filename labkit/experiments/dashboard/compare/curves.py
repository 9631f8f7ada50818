"""The curves of the Compare page: times by turn, times as they are spread, and cost by the number of steps."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from labkit.analysis.distribution import Timed
from labkit.analysis.exponents import exponent_table
from labkit.analysis.growth import growth_table
from labkit.core.conditions import is_reference, method_of, of_reference, steps_of
from labkit.core.records import Cache
from labkit.experiments.dashboard.opened import Opened
from labkit.plots.ecdf import EcdfInfo, ecdf_info
from labkit.plots.ecdf import beside as times_beside
from labkit.plots.growth import GrowthInfo, growth_info
from labkit.plots.growth import Measure as GrowthMeasure
from labkit.plots.per_turn import Measure, PerTurnInfo, per_turn_info
from labkit.plots.per_turn import beside as turns_beside
from labkit.plots.theme import arm_order

TIMED: tuple[Timed, ...] = ("ttft", "e2e", "itl")
_TIMES_OF: dict[str, Timed] = {"ttft_s": "ttft", "itl_p99_s": "itl"}
_MEASURES: tuple[Measure, ...] = ("ttft", "e2e")


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Per turn and distributed, of the same rows."""

    turns: tuple[PerTurnInfo, ...]
    times: tuple[EcdfInfo, ...]

    def times_for(self, metric: str) -> list[EcdfInfo]:
        """The distributions, that of this metric first."""
        own = _TIMES_OF.get(metric, "e2e")
        return sorted(self.times, key=lambda info: info.timed != own)


def curves(run: Opened, cache: Cache | None = None, condition: str | None = None) -> Curves:
    """Of these passes; of the run's first cache state and of all conditions when none is named."""
    of = next((part for part in run.parts if part.cache == cache), run.parts[0])
    steps, chunks = (_drawn(rows, condition) for rows in (of.steps, of.chunks))
    return Curves(
        turns=tuple(per_turn_info(steps, measure) for measure in _MEASURES),
        times=tuple(ecdf_info(chunks if timed == "itl" else steps, timed) for timed in TIMED),
    )


def curves_beside(a: Curves, b: Curves, arm: str) -> Curves:
    """One arm's curves of both runs, in one figure each."""
    return Curves(
        turns=tuple(turns_beside(*both, arm) for both in zip(a.turns, b.turns, strict=True)),
        times=tuple(times_beside(*both, arm) for both in zip(a.times, b.times, strict=True)),
    )


def growth(run: Opened) -> tuple[GrowthInfo, ...]:
    """How cost grows with the number of steps; empty where the run did not vary it."""
    if not any(steps_of(str(condition)) for condition in run.counted["condition"].unique()):
        return ()
    table, exponents = growth_table(run.counted), exponent_table(run.counted)
    measures: tuple[GrowthMeasure, ...] = ("prompt_computed", "e2e_s")
    return tuple(growth_info(table, exponents, measure) for measure in measures)


def _drawn(rows: pd.DataFrame, condition: str | None) -> pd.DataFrame:
    """The rows of arms that have a colour."""
    kept = rows[rows["arm"].isin(arm_order(rows["arm"]))]
    if condition is None:
        return kept
    own = kept["condition"] == condition
    if method := method_of(condition):  # a drafter is looked at beside its reference
        own |= kept["condition"].map(lambda text: is_reference(text, method) or text == of_reference()).astype(bool)
    return kept[own]
