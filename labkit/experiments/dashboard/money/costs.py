"""What a run cost at one price: a sentence, a row for each arm, and both figures, for every load and cache state."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.analysis.cost import CostRow, cost_table
from labkit.analysis.energy import group_joules
from labkit.analysis.format import DASH, joules, missing, seconds, usd
from labkit.analysis.recost import RateRow, recost
from labkit.core.paths import data_dir
from labkit.core.prices import Price
from labkit.experiments.attached.kept import profile_of
from labkit.experiments.compared import of_whole_laps
from labkit.experiments.cost_words import remarks, toggled
from labkit.experiments.dashboard.money.cost_sentences import sentence
from labkit.experiments.dashboard.money.prices import NO_EDIT, Edits, an_hour, priced, resting_on
from labkit.experiments.dashboard.money.success import verdict
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.solved import solved_tasks
from labkit.plots.cost import CostInfo, cost_info
from labkit.plots.per_million import MEASURES, PerMillionInfo, Tokens, per_million_info
from labkit.plots.theme import arm_order
from labkit.store.declared_csv import read_declared

COLUMNS = ("arm", "time", "task runs", "solved", "per task run", "per solved task", "per M computed", "per M prompt",
           "per M generated", "J per task run")  # fmt: skip
MEANINGS = (
    None, "First send to last end of its passes, waiting for tools included.", "Passes of an agent over a task or "
    "recording, failed and truncated ones included.", "Task runs whose hidden check passed; a dash: nobody checked.",
    "All that was spent over task runs.", "All that was spent over solved task runs; a dash when none was.",
    "All that was spent over a million prompt tokens that were computed.", "All that was spent over a million prompt "
    "tokens, cached ones too.", "All that was spent over a million generated tokens.", "Energy of all devices that "
    "could be read; a dash: not measured.",
)  # fmt: skip
NOBODY = "A script decided every step and no engine worked, so there is nothing that a machine would be paid for."
NOTHING = "No step has finished yet, so there is nothing to pay for."
FAILED = (
    "No step got an answer, so nothing can be said of what an answer costs. The engine's last words are on the Engines "
    "page; ask again on the Live page."
)


@dataclass(frozen=True, kw_only=True)
class CostsView:
    """One load and cache state. `cells`: text by COLUMNS, a row for each arm in the lab's order."""

    condition: str
    cache: str
    sentence: str
    cells: tuple[tuple[str, ...], ...]
    per_task: CostInfo
    per_million: Mapping[Tokens, PerMillionInfo]


@dataclass(frozen=True, kw_only=True)
class Costed:
    """What a run cost. `empty`: why there is nothing to show; then there are no views.

    `elsewhere`: whose seconds the price is put to, which is a conversion unless they are of the machine that is paid.
    `verdict`: of a run that confirmed an arm, whether it solves as much; empty for others.
    """

    price: str
    an_hour: str
    resting_on: str
    empty: str
    elsewhere: str
    verdict: str
    views: tuple[CostsView, ...]
    remarks: tuple[str, ...]


def costed(opened: Opened, price: str, edits: Edits = NO_EDIT) -> Costed:
    """Raises UnknownName for the price, BadInput for an edit that is no possible value."""
    at = priced(price, edits)
    steps, cut = of_whole_laps(opened.info, opened.steps)
    table = _table(opened, steps, at)
    of_engines = table[table["arm"].isin(arm_order(table["arm"]))]
    profile = profile_of(opened.info)
    said = remarks(of_engines, opened.info, opened.events, (), cut) if len(of_engines) else ()
    return Costed(
        price=at.name,
        an_hour=an_hour(at),
        resting_on=resting_on(at),
        empty=_empty(table, of_engines, cut),
        elsewhere=_elsewhere(at, profile, opened.info.fingerprint),
        verdict=verdict(opened),
        views=_views(of_engines, at, opened.own_ways == "agents"),
        remarks=tuple(said),
    )


def published() -> list[RateRow]:
    """Results that others published, as a cost needs them. Raises BadInput."""
    return [row for _, row in read_declared(data_dir() / "published_rates.csv", RateRow)]


def _elsewhere(price: Price, profile: str, fingerprint: Mapping[str, Any]) -> str:
    """A profile says what an engine is set up for; only the fingerprint says where it ran."""
    if price.is_of(profile):
        cpu = fingerprint.get("cpu") or {}
        cores, model = cpu.get("cores"), cpu.get("model")
        machine = f"{cores} cores of an {model}" if cores and model else "a machine that the run does not name"
        return f"The price of {price.name} is put to seconds of {machine}: a conversion, unless you pay for that one."
    return f"Measured on {profile or 'another machine'}: {price.about} would take other times. Read it as a conversion."


def _empty(table: pd.DataFrame, of_engines: pd.DataFrame, cut: int) -> str:
    """Why there is nothing to show; empty where there is something."""
    if len(of_engines):
        return "" if (of_engines["n_failed"] < of_engines["n_steps"]).any() else FAILED
    return NOBODY if len(table) else toggled(cut) if cut else NOTHING


def _table(opened: Opened, steps: pd.DataFrame, price: Price) -> pd.DataFrame:
    return cost_table(
        steps, {price.name: price}, group_joules(opened.samples, steps), solved_tasks(opened.info, opened.events)
    )


def _views(table: pd.DataFrame, price: Price, live: bool) -> tuple[CostsView, ...]:
    claims = recost(published(), {price.name: price})
    states = {(str(row.condition), str(row.cache)) for row in table[["condition", "cache"]].itertuples()}
    return tuple(_view(table, claims, price, live, *state) for state in sorted(states, key=_place))


def _place(state: tuple[str, str]) -> tuple[str, int, str]:
    """`steps=5` before `steps=15`, cold before warm."""
    condition, cache = state
    name, _, count = condition.partition("=")
    return name, int(count) if count.isdecimal() else 0, f"{condition} {cache}"


def _view(table: pd.DataFrame, claims: pd.DataFrame, price: Price, live: bool, condition: str, cache: str) -> CostsView:
    mine = table[(table["condition"] == condition) & (table["cache"] == cache)]
    rows = _in_order(mine.to_dict("records"))
    return CostsView(
        condition=condition,
        cache=cache,
        sentence=sentence(rows, live),
        cells=tuple(map(_cells, rows)),
        per_task=cost_info(mine, price.name, condition, cache),
        per_million={tokens: per_million_info(mine, claims, tokens, price.name) for tokens in MEASURES},
    )


def _in_order(rows: Sequence[Mapping[Hashable, Any]]) -> list[CostRow]:
    known = {str(row["arm"]): row for row in rows}
    return [CostRow.from_dict({str(k): None if missing(v) else v for k, v in known[arm].items()})
            for arm in arm_order(known)]  # fmt: skip


def _cells(row: CostRow) -> tuple[str, ...]:
    solved = DASH if row.n_solved is None else f"{row.n_solved}"
    money = (row.usd_per_task, row.usd_per_solved, row.usd_per_m_computed, row.usd_per_m_prompt)
    return (
        row.arm,
        seconds(row.seconds),
        f"{row.n_tasks}",
        solved,
        *map(usd, money),
        usd(row.usd_per_m_generated),
        joules(row.joules_per_task),
    )
