"""Joules, and where it was asked for the cost: never a number without what it rests on."""

from __future__ import annotations

from typing import Any

import pandas as pd

from labkit.analysis.cost import cost_table
from labkit.analysis.energy import joules
from labkit.analysis.format import DASH, missing, seconds, usd
from labkit.analysis.format import joules as in_joules
from labkit.analysis.hourly import hourly
from labkit.core.prices import Figure, Price
from labkit.experiments.compared import Part, of_whole_laps
from labkit.experiments.cost_words import toggled
from labkit.experiments.report.blocks import Block, Grid, Heading, Words, drawn
from labkit.experiments.report.english import records
from labkit.experiments.report.material import Material
from labkit.experiments.report.results.by_cache import by_cache
from labkit.experiments.solved import solved_tasks
from labkit.plots.cost import cost_figure, cost_info

_ENERGY = ("arm", "repeat", "time", "joules", "at rest", "above rest", "read from")
_COST = (
    *("arm", "time", "task runs", "solved", "per task run", "per solved task"),
    *("per M computed", "per M generated", "J per task"),
)
_COST_NOTE = (
    "US dollars at the load that was measured: one agent at a time leaves most of a machine unused. All GPUs are paid "
    "for, idle ones too, from first send to last end. Solved: a dash means that nobody checked. Per M: the whole cost "
    "over a million prompt tokens that were computed, or tokens that were generated."
)


def energy(material: Material) -> tuple[Block, ...]:
    """Joules per arm and repeat; where nothing could be read, one sentence that says why."""
    groups = material.joules
    if len(groups) and groups["joules"].isna().all():
        why = dict.fromkeys(why for why in groups["why"] if why)
        return Heading("Energy"), Words(f"{DASH} Not measured: {'; '.join(why)}.")
    return by_cache(material, "Energy", lambda part: _part(material, part))


def _part(material: Material, part: Part) -> tuple[Block, ...]:
    cells = tuple(map(_joules, records(joules(material.samples, part.steps))))
    return (Grid(_ENERGY, cells, "Energy of all devices that were read", words=(0, 6)),) if cells else ()


def _joules(row: dict[str, Any]) -> tuple[str, ...]:
    numbers = (in_joules(row[name]) for name in ("joules", "idle_joules", "net_joules"))
    return (row["arm"], str(row["repeat"] + 1), seconds(row["seconds"]), *numbers, row["source"] or row["why"])


def cost(material: Material) -> tuple[Block, ...]:
    """For each price that was asked for: the table, and every figure that it rests on."""
    if not material.prices or not len(material.measured):
        return ()
    steps, cut = of_whole_laps(material.info, material.steps)
    left_out = [Words(toggled(cut))] if cut else []
    if not len(steps):
        return Heading("Cost"), *left_out
    table = cost_table(steps, material.prices, material.joules, solved_tasks(material.info, material.events))
    rows = records(table)
    blocks: list[Block] = [Heading("Cost"), *left_out]
    for price in material.prices.values():
        cells = tuple(_cost(row) for row in rows if row["price"] == price.name)
        caption = f"{price.name}: {price.about}; {usd(hourly(price).total)} an hour of work"
        blocks += drawn(cost_info(table, price.name, *_first(table)), cost_figure)
        blocks += [Grid(_COST, cells, caption, _COST_NOTE), _figures(price)]
    return tuple(blocks)


def _first(table: pd.DataFrame) -> tuple[str, str]:
    """The condition and cache state of the first row: what the figure is of."""
    return str(table["condition"].iloc[0]), str(table["cache"].iloc[0])


def _cost(row: dict[str, Any]) -> tuple[str, ...]:
    state = ", ".join(filter(None, (row["arm"], row["condition"], row["cache"] if row["cache"] == "warm" else "")))
    names = ("usd_per_task", "usd_per_solved", "usd_per_m_computed", "usd_per_m_generated")
    solved = DASH if missing(row["n_solved"]) else str(row["n_solved"])
    dollars = (usd(row[name]) for name in names)
    return (state, seconds(row["seconds"]), str(row["n_tasks"]), solved, *dollars, in_joules(row["joules_per_task"]))


def _figures(price: Price) -> Grid:
    rows = tuple(
        (each.meaning, f"{each.value:,g} {each.unit}".rstrip(), each.date, _origin(each)) for each in price.figures
    )
    return Grid(("figure", "value", "as of", "from"), rows, "What this cost rests on", words=(0, 1, 2, 3))


def _origin(figure: Figure) -> str:
    where = f"assumption: {figure.source}" if figure.assumption else figure.source
    return f"{where} ({figure.note})" if figure.note else where
