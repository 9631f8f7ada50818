"""A confirmation as a terminal shows it: what each arm solved, how long that took, and the verdict with its margin."""

from __future__ import annotations

import dataclasses
import json

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table

from labkit.analysis.confirmation import confirmation, in_words
from labkit.analysis.format import DASH, missing, percent, seconds
from labkit.analysis.outcomes import outcomes, solved
from labkit.analysis.success import SuccessRow
from labkit.cli.measuring import ending, say_json
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.store.runs import Run

_CAPTION = (
    "time per solved task: all time that was spent, failed attempts included, over the solved ones.\n"
    "cut short: met a limit of steps, tokens or seconds, or a request failed."
)


def show(run: Run, console: Console, *, as_json: bool = False) -> None:
    """The table, the verdict, then what every run says. JSON: one line on stdout."""
    attempts, found = print_run(run, console)
    ending(run, console)
    if as_json:
        arms = json.loads(solved(attempts).to_json(orient="records"))
        say_json(run, arms=arms, confirmation=dataclasses.asdict(found))


def print_run(run: Run, console: Console) -> tuple[pd.DataFrame, SuccessRow]:
    """The table and the verdict; returns the attempts and what was found."""
    asked = ConfirmAsked.from_dict(run.info.asked)
    attempts = outcomes(run.events())
    found = confirmation(attempts, asked.against, asked.arm, asked.margin)
    if len(attempts):
        console.print(solved_view(solved(attempts)))
    console.print(f"{in_words(found, asked.against, asked.arm, attempts)}.", highlight=False, soft_wrap=True)
    return attempts, found


def solved_view(table: pd.DataFrame) -> Table:
    """One line per arm of a table of SolvedRow."""
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, caption=_CAPTION, caption_justify="left")
    shown.add_column("arm", no_wrap=True)
    for title in ("tasks", "solved", "share", "time per\nattempt", "time per\nsolved task", "cut\nshort"):
        shown.add_column(title, justify="right", no_wrap=True)
    for row in table.to_dict("records"):
        shown.add_row(
            row["arm"],
            str(row["n_tasks"]),
            f"{row['n_solved']} of {row['n_attempts']}",
            percent(row["success_rate"]),
            seconds(row["attempt_s"]),
            DASH if missing(row["solved_s"]) else seconds(row["solved_s"]),
            str(row["n_cut"]),
        )
    return shown
