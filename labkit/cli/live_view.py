"""What a live run prints: its arms side by side, what was switched when, and what live agents reached."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table

from labkit.analysis.outcomes import outcomes, solved
from labkit.cli.arms_view import parts_of, titled
from labkit.cli.confirm_view import solved_view
from labkit.cli.measuring import ending, say_json
from labkit.cli.tables import arm_table_view
from labkit.experiments.own_ways import same_requests
from labkit.experiments.view import arms_of_part
from labkit.store.runs import Run


def show(run: Run, console: Console, *, as_json: bool = False) -> None:
    """The tables, how it ended, where it is. JSON: one line on stdout, for programs."""
    table = print_run(run, console)
    ending(run, console)
    if as_json:
        say_json(run, arms=json.loads(table.to_json(orient="records")), switches=switches(run.events()))


def print_run(run: Run, console: Console) -> pd.DataFrame:
    """Arms, switches, and attempts of live agents; returns the arms."""
    table = pd.DataFrame()
    for part in titled(parts_of(run)[:1], console):
        table = arms_of_part(part, same_requests(run.info, run.events()))
        if len(table):
            console.print(arm_table_view(table, console.width))
    if found := switches(run.events()):
        console.print("", _switches_view(found))
    if len(judged := outcomes(run.events())):
        console.print("", solved_view(solved(judged)))
    return table


def switches(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """`t`, `was`, `arm`, `waited_s`, `warm` of each turn to another arm while the run went on, in order."""
    names = ("t", "was", "arm", "waited_s", "warm")
    return [{name: event[name] for name in names} for event in events if event["type"] == "switch" and event["was"]]


def _switches_view(found: list[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title="Switched")
    table.title_justify, table.title_style = "left", "bold"
    table.add_column("at", justify="right")
    for name in ("from", "to"):
        table.add_column(name, no_wrap=True)
    table.add_column("waited", justify="right")
    table.add_column("engine")
    for each in found:
        engine = "was warm" if each["warm"] else "was started"
        table.add_row(f"{each['t']:.1f} s", each["was"], each["arm"], f"{each['waited_s']:.1f} s", engine)
    return table
