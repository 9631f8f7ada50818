"""What the Compare page shows of one run: which of its passes can be compared, and what layers gain there.

Arms are compared within one cache state and one condition, where they sent the same requests. Agents under load take
requests as they come, and live agents go their own way: nothing is paired there, and the curves alone are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from labkit.analysis.effects import Gains, effects_and_gains
from labkit.analysis.energy import group_joules
from labkit.analysis.requests import METRICS
from labkit.analysis.tables import is_finished
from labkit.core.conditions import is_reference
from labkit.core.records import Cache, RunState
from labkit.experiments.dashboard.compare.gain_words import Subject
from labkit.experiments.dashboard.compare.other_gains import drafters, solved_in_words
from labkit.experiments.dashboard.opened import Opened
from labkit.plots.theme import arm_order

Kind = Literal["layers", "drafters", "load", "agents", "one arm", "nothing"]
"""What a run can be asked: what layers gain, or why not that."""


@dataclass(frozen=True, kw_only=True)
class Passes:
    """Passes of one cache state and condition in which two arms or more sent the same requests."""

    cache: Cache
    condition: str
    n: int


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What can be said of a run at all. `passes`: what can be compared; most telling first.

    `conditions`: of which curves can be drawn where nothing can be compared; empty without a choice. `others`: gains of
    what the run varied in place of layers; `said`: clauses on what its agents got done.
    """

    experiment: str
    state: RunState
    note: str
    kind: Kind
    arms: tuple[str, ...]
    n: int
    n_failed: int
    passes: tuple[Passes, ...] = ()
    conditions: tuple[str, ...] = ()
    others: tuple[Subject, ...] = ()
    said: tuple[str, ...] = ()


def scope(run: Opened) -> Scope:
    """What of this run can be compared."""
    counted = run.counted
    done = is_finished(counted)
    found = tuple(_passes(counted)) if run.paired and done.any() else ()
    arms = tuple(arm_order(run.sent["arm"]))
    kind = _kind(run, counted, found)
    return Scope(
        experiment=run.info.experiment,
        state=run.info.state,
        note=run.info.note,
        kind=kind,
        arms=arms,
        n=len(counted),
        n_failed=int((~done).sum()),
        passes=found,
        conditions=() if found else tuple(_conditions(counted)),
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


def _conditions(counted: pd.DataFrame) -> list[str]:
    """What was varied, in the order of the run; a reference stands beside what refers to it."""
    return [name for name in map(str, counted["condition"].unique()) if name and not is_reference(name)]


def _kind(run: Opened, counted: pd.DataFrame, found: tuple[Passes, ...]) -> Kind:
    if not is_finished(counted).any():
        return "nothing"
    if run.own_ways:
        return run.own_ways
    if found:
        return "layers"
    return "drafters" if counted["condition"].str.startswith("method=").any() else "one arm"


def _passes(counted: pd.DataFrame) -> Iterator[Passes]:
    """Cold before warm; of one cache state first what has no condition, then the most requests."""
    of_arms = counted[counted["arm"].isin(arm_order(counted["arm"]))]
    groups: Any = of_arms.groupby(["cache", "condition"], sort=False)
    several = [(*state, len(rows)) for state, rows in groups if rows["arm"].nunique() > 1]
    for cache, condition, n in sorted(several, key=lambda each: (each[0], each[1] != "", -each[2])):
        yield Passes(cache=cache, condition=condition, n=n)
