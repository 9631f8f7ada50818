"""What the Compare page shows of one run: which of its passes can be compared, what layers gain there, and the curves.

Arms are compared within one cache state and one condition, where they sent the same requests. Agents under load take
requests as they come, and live agents go their own way: nothing is paired there, and the curves alone are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from labkit.analysis.distribution import Timed
from labkit.analysis.effects import Gains, effects_and_gains
from labkit.analysis.energy import group_joules
from labkit.analysis.exponents import exponent_table
from labkit.analysis.growth import growth_table
from labkit.analysis.requests import METRICS
from labkit.analysis.tables import is_finished
from labkit.core.conditions import steps_of
from labkit.core.records import Cache, RunState
from labkit.experiments.dashboard.gain_words import Subject
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.dashboard.other_gains import drafters, solved_in_words
from labkit.plots.ecdf import EcdfInfo, ecdf_info
from labkit.plots.growth import GrowthInfo, growth_info
from labkit.plots.growth import Measure as GrowthMeasure
from labkit.plots.per_turn import Measure, PerTurnInfo, per_turn_info
from labkit.plots.theme import arm_order

Kind = Literal["layers", "drafters", "load", "agents", "one arm", "nothing"]
"""What a run can be asked: what layers gain, or why not that."""
TIMED: tuple[Timed, ...] = ("ttft", "e2e", "itl")
_TIMES_OF: dict[str, Timed] = {"ttft_s": "ttft", "itl_p99_s": "itl"}
_MEASURES: tuple[Measure, ...] = ("ttft", "e2e")


@dataclass(frozen=True, kw_only=True)
class Passes:
    """Passes of one cache state and condition in which two arms or more sent the same requests."""

    cache: Cache
    condition: str
    n: int


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What can be said of a run at all. `passes`: what can be compared; most telling first.

    `others`: gains of what the run varied in place of layers; `said`: clauses on what its agents got done.
    """

    experiment: str
    state: RunState
    note: str
    kind: Kind
    arms: tuple[str, ...]
    n: int
    n_failed: int
    passes: tuple[Passes, ...] = ()
    others: tuple[Subject, ...] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Per turn and distributed, of the same rows."""

    turns: tuple[PerTurnInfo, ...]
    times: tuple[EcdfInfo, ...]

    def times_for(self, metric: str) -> list[EcdfInfo]:
        """The distributions, that of this metric first."""
        own = _TIMES_OF.get(metric, "e2e")
        return sorted(self.times, key=lambda info: info.timed != own)


def scope(run: Opened) -> Scope:
    """What of this run can be compared."""
    counted = run.counted
    found = tuple(_passes(counted)) if _same_requests(run) else ()
    arms = tuple(arm_order(counted["arm"]))
    kind = _kind(run, counted, found)
    return Scope(
        experiment=run.info.experiment,
        state=run.info.state,
        note=run.info.note,
        kind=kind,
        arms=arms,
        n=len(counted),
        n_failed=int((~is_finished(counted)).sum()),
        passes=found,
        others=tuple(drafters(counted)) if kind == "drafters" else (),
        said=tuple(solved_in_words(run.info, run.events)) if kind == "agents" else (),
    )


def gains(run: Opened, cache: Cache, condition: str) -> Gains:
    """What layers and arms gain in these passes."""
    of = next(part for part in run.parts if part.cache == cache)
    joules = group_joules(run.samples, run.counted)
    return effects_and_gains(of.steps, of.chunks, joules, cache=cache, condition=condition)


def metrics_of(*tables: pd.DataFrame) -> list[str]:
    """The metrics on which anything was gained or lost, in the lab's order."""
    there = {metric for table in tables for metric in table.loc[table["gain"].notna(), "metric"]}
    return [metric for metric in METRICS if metric in there]


def curves(run: Opened, cache: Cache | None = None, condition: str | None = None) -> Curves:
    """Of these passes; of the run's first cache state and of all conditions when none is named."""
    of = next((part for part in run.parts if part.cache == cache), run.parts[0])
    steps, chunks = (_drawn(rows, condition) for rows in (of.steps, of.chunks))
    return Curves(
        turns=tuple(per_turn_info(steps, measure) for measure in _MEASURES),
        times=tuple(ecdf_info(chunks if timed == "itl" else steps, timed) for timed in TIMED),
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
    return kept if condition is None else kept[kept["condition"] == condition]


def _kind(run: Opened, counted: pd.DataFrame, found: tuple[Passes, ...]) -> Kind:
    if counted.empty:
        return "nothing"
    if not _same_requests(run):
        return "load" if _told(run, "window") else "agents"
    if found:
        return "layers"
    return "drafters" if counted["condition"].str.startswith("method=").any() else "one arm"


def _same_requests(run: Opened) -> bool:
    return not (_told(run, "window") or _told(run, "outcome"))


def _told(run: Opened, kind: str) -> bool:
    return any(event["type"] == kind for event in run.events)


def _passes(counted: pd.DataFrame) -> Iterator[Passes]:
    """Cold before warm; of one cache state first what has no condition, then the most requests."""
    of_arms = counted[counted["arm"].isin(arm_order(counted["arm"]))]
    groups: Any = of_arms.groupby(["cache", "condition"], sort=False)
    several = [(*state, len(rows)) for state, rows in groups if rows["arm"].nunique() > 1]
    for cache, condition, n in sorted(several, key=lambda each: (each[0], each[1] != "", -each[2])):
        yield Passes(cache=cache, condition=condition, n=n)
