"""Costs as a terminal shows them. No number stands without what it rests on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from labkit.analysis.cost import cost_table
from labkit.analysis.energy import group_joules
from labkit.analysis.format import count, joules, seconds, usd
from labkit.analysis.hourly import hourly
from labkit.core.errors import LabError
from labkit.core.prices import Figure, Price, Prices
from labkit.core.records import RunInfo
from labkit.experiments.attached.kept import attached_engines, profile_of
from labkit.experiments.compared import of_whole_laps
from labkit.experiments.cost_words import remarks, toggled
from labkit.experiments.solved import solved_tasks
from labkit.store.following import happened
from labkit.store.prices import set_values
from labkit.store.runs import RunStore


def show_prices(prices: Prices, console: Console) -> None:
    """Every price, its cost an hour, and what that is made of."""
    for price in prices.values():
        console.print(title(price))
        console.print(Padding(figures_table(price), (0, 0, 1, 2)))
    console.print("Edit data/prices.toml, pass --prices FILE, or change one figure with --set NAME=NUMBER.")


def show_run(
    run: str, known: Prices, name: str | None, settings: Sequence[str], today: str, console: Console, *, as_json: bool
) -> None:
    """What a run cost. Raises UnknownName, BadInput, RunUnreadable."""
    opened = RunStore().open(run)
    chosen = known.named(name) if name else known.of_profile(profile_of(opened.info))
    if not chosen:
        raise _no_price(opened.info, known)
    chosen = set_values(chosen, list(settings), today)
    steps, cut = of_whole_laps(opened.info, opened.steps())
    table = cost_table(
        steps, chosen, group_joules(opened.samples(), steps), solved_tasks(opened.info, happened(opened))
    )
    if as_json:
        print(json.dumps(_as_json(table, chosen), indent=2))
        return
    if table.empty:
        console.print(toggled(cut) if cut else "No step has finished, so there is nothing to pay for.")
        return
    for price in chosen.values():
        rows = table[table["price"] == price.name]
        console.print(title(price))
        console.print(Padding(costs_table(rows), (0, 0, 1, 0)))
        console.print(Text("What this rests on", "bold"))
        console.print(Padding(figures_table(price), (0, 0, 1, 2)))
    for line in remarks(table, opened.info, opened.events(), chosen.values(), cut):
        console.print(line, soft_wrap=False, highlight=False)


def _no_price(info: RunInfo, known: Prices) -> LabError:
    """Which --price to give: of the machine that the profile's name begins with, where the list has it."""
    engines, profile = attached_engines(info.fingerprint), profile_of(info)
    near = known.named_like(profile)
    why = f"no price is known for profile {profile!r}" if profile else "this run names no profile of a machine"
    if engines:
        urls = ", ".join(str(each.get("url")) for each in engines.values())
        why = f"{urls} was attached, and the machine that it runs on is not known"
    told = f"labkit cost {info.id} --price {(near or list(known))[0]}"
    others = f"Of that machine: {', '.join(near)}." if near else f"There are: {', '.join(known)}."
    return LabError(why, f"Say which: {told}. {others} What they are: labkit cost --list")


def _as_json(table: pd.DataFrame, prices: Prices) -> dict[str, Any]:
    rows = json.loads(table.to_json(orient="records"))
    figures = {name: [vars(figure) for figure in price.figures] for name, price in prices.items()}
    return {"costs": rows, "figures": figures}


def title(price: Price) -> Text:
    """A price in a line: name, machine, cost of an hour and its parts."""
    parts = {name: value for name, value in vars(hourly(price)).items() if value}
    made_of = f" ({' + '.join(f'{name} {usd(value)}' for name, value in parts.items())})" if len(parts) > 1 else ""
    total = f"{usd(hourly(price).total)} an hour of work{made_of}"
    return Text.assemble((price.name, "bold"), f": {price.about}; {total}")


def figures_table(price: Price) -> Table:
    """The figures of a price, with where each comes from."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("figure", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("as of", no_wrap=True)
    table.add_column("from", overflow="fold")
    for figure in price.figures:
        table.add_row(figure.name, f"{figure.value:,g} {figure.unit}".rstrip(), figure.date, _origin(figure))
    return table


def _origin(figure: Figure) -> Text:
    where = (
        Text("assumption: ", "yellow").append(figure.source, "default") if figure.assumption else Text(figure.source)
    )
    return where.append(f" ({figure.note})" if figure.note else "")


def costs_table(rows: pd.DataFrame) -> Table:
    """Rows of `labkit.analysis.cost.cost_table`; "not measured" is a dash."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("arm", overflow="fold")
    for heading in ("time", "task runs\nsolved", "per\ntask run", "per\nsolved", "per M\ncomp."):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("per M\nprompt", "per M\ngen.", "J per\ntask run"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows.to_dict("records"):
        table.add_row(
            _label(row),
            seconds(row["seconds"]),
            f"{row['n_tasks']} / {count(row['n_solved'])}",
            *(usd(row[f"usd_per_{name}"]) for name in ("task", "solved", "m_computed", "m_prompt", "m_generated")),
            joules(row["joules_per_task"]),
        )
    return table


def _label(row: Any) -> Text:
    cache = row["cache"] if row["cache"] != "cold" else ""
    return Text(str(row["arm"]), "bold").append(
        "".join(f" {part}" for part in (row["condition"], cache) if part), "dim"
    )
