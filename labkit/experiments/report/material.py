"""Everything that a report is written from, read once: the run's tables and events, and what is computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.client_bound import ClientVerdict, client_bound
from labkit.analysis.concurrency import windows
from labkit.analysis.drift import DriftRow, drift
from labkit.analysis.effects import arm_gains, effects
from labkit.analysis.energy import group_joules
from labkit.analysis.outcomes import outcomes
from labkit.analysis.tables import is_finished
from labkit.core.prices import Price
from labkit.core.records import Cache
from labkit.experiments.cold import ColdEvidence, evidence
from labkit.experiments.compared import Part, compared, parts
from labkit.experiments.own_ways import same_requests
from labkit.experiments.view import RunView, arms_of_part, view
from labkit.plots.theme import arm_order
from labkit.store.runs import Run

Event = dict[str, Any]


class Slice(NamedTuple):
    """What layers and arms gained in one cache state and condition; tables of labkit.analysis.effects."""

    cache: Cache
    condition: str
    effects: pd.DataFrame
    arm_gains: pd.DataFrame

    @property
    def name(self) -> str:
        """`cold`, or `cold, agents=4`."""
        return ", ".join(filter(None, (self.cache, self.condition)))


class Material:
    """One run, read. Everything is computed when a section first asks for it, and once.

    `steps`, `chunks` are all rows, also those that do not count; `measured` those that do, of both cache states;
    `parts` the same by cache state, for sums.
    """

    def __init__(self, run: Run, prices: Mapping[str, Price] | None = None) -> None:
        """`prices`: what costs are asked at; none by default."""
        self.run = run
        self.prices = prices or {}
        self.info = run.info
        self.events = run.events()
        self.view: RunView = view(run)
        self.steps, self.chunks = self.view.steps, self.view.chunks

    @property
    def asked(self) -> dict[str, Any]:
        return self.info.asked

    @cached_property
    def samples(self) -> pd.DataFrame:
        return self.run.samples()

    @cached_property
    def measured(self) -> pd.DataFrame:
        """Steps that count: no warm-up, nothing void, not the block that only shows drift."""
        return compared(self.info, self.steps)

    @cached_property
    def parts(self) -> list[Part]:
        """The rows that count by cache state, cold first; one part at least."""
        return parts(self.info, self.steps, self.chunks)

    @cached_property
    def joules(self) -> pd.DataFrame:
        """Energy by arm, condition, cache state and repeat; columns of labkit.analysis.energy.GroupJoulesRow."""
        return group_joules(self.samples, self.measured)

    @cached_property
    def arms(self) -> list[str]:
        """Arms with a measured step, in the lab's order."""
        return in_order(self.measured["arm"])

    @cached_property
    def table(self) -> pd.DataFrame:
        """The arm table of the first part; empty without a measured step."""
        return self.arm_table(self.parts[0])

    def arm_table(self, part: Part) -> pd.DataFrame:
        """The arm table of a part; without ratios where no two arms sent the same requests."""
        return arms_of_part(part, self.paired)

    @cached_property
    def paired(self) -> bool:
        """Whether arms sent the same requests: not under load, where agents take what comes, nor do live agents."""
        return same_requests(self.info, self.events)

    @cached_property
    def n_finished(self) -> int:
        return int(is_finished(self.measured).sum())

    @cached_property
    def conditions(self) -> list[str]:
        """What was varied besides the arm, in the order of the run."""
        return [name for name in self.measured["condition"].unique() if name]

    @cached_property
    def drawable(self) -> pd.DataFrame:
        """All steps of arms that have a colour and a place in the lab's order."""
        return drawable(self.steps)

    @cached_property
    def slices(self) -> list[Slice]:
        """The effects of each cache state and condition with two arms or more, in the order of the run.

        None under load, where agents take what comes, nor of live agents: no two arms send the same requests there.
        """
        table = drawable(self.measured)
        if not self.paired:
            return []
        several = table.groupby(["cache", "condition"], sort=False)["arm"].nunique()
        states: list[Any] = [state for state, arms in several.items() if arms > 1]
        return [self._slice(cache, condition) for cache, condition in states]

    def _slice(self, cache: Cache, condition: str) -> Slice:
        part = next(part for part in self.parts if part.cache == cache)
        rows = (part.steps, part.chunks, self.joules)
        return Slice(cache, condition, *(f(*rows, cache=cache, condition=condition) for f in (effects, arm_gains)))

    @property
    def headline(self) -> Slice | None:
        """The first cache state and condition that has an effect: cold, where it was measured."""
        return next((of for of in self.slices if of.effects["gain"].notna().any()), None)

    @cached_property
    def windows(self) -> pd.DataFrame:
        """Steady windows of a run under load; empty in others."""
        return windows(self.events)

    @cached_property
    def client(self) -> ClientVerdict:
        return client_bound(self.steps, self.chunks, self.samples)

    @cached_property
    def drift(self) -> DriftRow | None:
        return drift(self.steps, self.asked)

    @cached_property
    def cold(self) -> list[ColdEvidence]:
        return evidence(self.drawable, self.events)

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """One row per attempt that was judged; columns as labkit.analysis.outcomes.OutcomeRow declares them."""
        judged = [event for event in self.told("outcome") if event.get("reached") is not None]
        arm = "a script" if self.asked.get("model") == "scripted" else str(self.asked.get("arm", ""))
        return outcomes(judged, arm, str(self.asked.get("task", "")))

    def told(self, *types: str) -> Iterator[Event]:
        """The events of these types, in order."""
        return (event for event in self.events if event["type"] in types)


def drawable(steps: pd.DataFrame) -> pd.DataFrame:
    """The steps of arms that have a colour and a place in the lab's order."""
    return steps[steps["arm"].isin(arm_order(steps["arm"]))]
