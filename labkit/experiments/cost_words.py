"""What must be said beside a cost, a sentence each: for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from labkit.core.prices import Price
from labkit.core.records import RunInfo
from labkit.experiments.attached.kept import profile_of
from labkit.experiments.own_ways import own_ways

_LOAD = "Per M: the whole cost over a million tokens: prompt tokens computed (comp.), all of them, generated (gen.)."
_PAID = "The whole machine is paid for, idle GPUs too. Time: first send to last end of each pass, no engine starts."


def remarks(
    table: pd.DataFrame, info: RunInfo, events: Sequence[Mapping[str, Any]], prices: Iterable[Price], cut: int = 0
) -> Iterator[str]:
    """`table`: of `labkit.analysis.cost.cost_table`, with a row at least; `events`: of the run.

    `cut`: laps that a toggle cut short, and that are in no cost therefore.
    """
    profile = profile_of(info)
    agents = sorted(set(table["agents"]))
    at_once = "one agent at a time" if agents == [1] else f"{agents[0]} to {agents[-1]} agents at a time"
    yield f"At this load: {at_once}. A machine that serves more at once costs less a token."
    yield _LOAD
    yield _PAID
    yield from _uneven(table)
    if cut:
        yield toggled(cut)
    failed = int(table.drop_duplicates(["arm", "condition", "cache"])["n_failed"].sum())
    if failed:
        yield f"{failed} failed steps: their time is paid for, their tokens are not known."
    yield from _solved(table, own_ways(info, events) == "agents")
    yield energy(table, events)
    for price in prices:
        if not price.is_of(profile):
            yield f"{price.name} is not the machine of this run ({profile or 'no profile'}): its times would be others."


def energy(table: pd.DataFrame, events: Iterable[Mapping[str, Any]]) -> str:
    """Which joules were read, or why none was."""
    found = next((event for event in events if event["type"] == "energy"), None)
    if table["joules"].notna().any():
        read = found["read"] if found else {}
        names = "; ".join(f"{source}: {', '.join(devices)}" for source, devices in read.items())
        return f"Energy of all that could be read ({names}), idle power included."
    if found and not found["read"]:
        return "Energy: not measured. " + "; ".join(f"{name}: {why}" for name, why in found["unread"].items()) + "."
    return "Energy: not measured."


def _uneven(table: pd.DataFrame) -> Iterator[str]:
    """Task runs of different lengths, as a run that was stopped leaves them."""
    steps = table["n_steps"] / table["n_tasks"]
    if steps.max() - steps.min() > 1e-9:
        yield f"Task runs differ in length ({steps.min():.1f} to {steps.max():.1f} steps): do not compare their costs."


def toggled(cut: int) -> str:
    """That laps were left out."""
    laps = "1 lap" if cut == 1 else f"{cut} laps"
    return f"{laps} that a toggle cut short: no whole task run of any arm, and so in no cost."


def _solved(table: pd.DataFrame, live: bool) -> Iterator[str]:
    if table["n_solved"].isna().any():
        replay = "not checked, since a replay sends recorded requests; `labkit agent` and its checks say it"
        yield f"Solved: {'not known of every attempt, since some were not judged' if live else replay}."
    if (table["n_solved"] == 0).any():
        yield "No task was solved where it says 0: then there is no cost per solved task, however much was spent."
