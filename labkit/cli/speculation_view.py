"""Drafters as a terminal shows them: acceptance and gain by kind of step and by depth of turn."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from labkit.analysis.counter_events import counters
from labkit.analysis.draft_positions import position_table
from labkit.analysis.drafter_gain import gain_table
from labkit.analysis.drafters import drafter_table
from labkit.analysis.format import DASH, count, missing, percent, plain, times
from labkit.cli.measuring import ending, say_json
from labkit.store.runs import Run

Row = dict[str, Any]
_KEY = ["method", "by", "group"]
_TITLES = {"all": "All steps", "kind": "By kind of step", "turn": "By turn"}
_SHORT = {"costs more than it gives": "slower", "no difference to be seen": "unsure", "too few to tell": "too few"}
"""Where a column is narrow; `too few` and `unsure` are no findings."""
_LEGEND = (
    "rate: accepted / proposed draft tokens. length: tokens per round with a draft. gain: time without / with it, "
    "of the same requests; over 1 is faster. decode: the same from first to last token. [95 % interval]."
)


def show(run: Run, console: Console, *, as_json: bool = False) -> None:
    """The tables, then what every run says last."""
    acceptance, gains, positions = print_run(run, console)
    ending(run, console)
    if as_json:
        say_json(run, acceptance=_plain(acceptance), gains=_plain(gains), positions=_plain(positions))


def print_run(run: Run, console: Console) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Print the tables, and return them."""
    found = tables(run)
    print_tables(*found, console)
    return found


def tables(run: Run) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The rows of DrafterRow, GainRow and PositionRow of a run."""
    steps = run.steps()
    return drafter_table(steps), gain_table(steps), position_table(counters(run.events()))


def print_tables(acceptance: pd.DataFrame, gains: pd.DataFrame, positions: pd.DataFrame, console: Console) -> None:
    """Nothing where nothing was measured."""
    both = acceptance.merge(gains, how="outer", on=_KEY, suffixes=("", "_gain"), sort=False)
    for by, title in _TITLES.items():
        some = both[both["by"] == by]
        if len(some):
            console.print(Text(title, "bold"), groups_view(some), "", sep="\n")
    if len(positions):
        console.print(Text("Accepted at position, of all drafts", "bold"), positions_view(positions), "", sep="\n")
    if len(gains):
        console.print(Text(texts_in_words(gains)), soft_wrap=True)
        console.print(Text(_LEGEND, "italic dim"))


def groups_view(rows: pd.DataFrame) -> Table:
    """A row for each group and drafter; "not measured" is a dash."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("group", "drafter"):
        table.add_column(name, no_wrap=True)
    for name in ("steps\ndrafted", "rate", "length", "gain", "decode"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("it is", overflow="fold")
    by_group = [rows[rows["group"] == group] for group in rows["group"].unique()]
    ordered: list[Any] = [row for some in by_group for row in some.to_dict("records")]
    for number, row in enumerate(ordered):
        last = number + 1 == len(ordered) or ordered[number + 1]["group"] != row["group"]
        table.add_row(*_cells(row), end_section=last)
    return table


def _cells(row: Row) -> list[str | Text]:
    rate = percent(row["rate"])
    if not missing(row["rate_low"]):
        rate += f"\n[{row['rate_low'] * 100:.0f}, {row['rate_high'] * 100:.0f}]"
    gain = times(row["gain"]) + ("" if missing(row["low"]) else f"\n[{plain(row['low'])}, {plain(row['high'])}]")
    return [
        row["group"],
        Text(row["method"], "bold"),
        f"{count(row['n_pairs'] if missing(row['n']) else row['n'])}\n{count(row['drafted'])}",
        rate,
        plain(row["length"]),
        gain,
        times(row["decode_gain"]),
        DASH if missing(row["verdict"]) else _SHORT.get(row["verdict"], row["verdict"]),
    ]


def positions_view(positions: pd.DataFrame) -> Table:
    """A row for each drafter: at each position of a draft, how many of all drafts got that far."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("drafter", no_wrap=True)
    places = sorted(positions["position"].unique())
    for place in places:
        table.add_column(str(place), justify="right", no_wrap=True)
    for method in positions["method"].unique():
        rates = positions[positions["method"] == method].set_index("position")["rate"]
        table.add_row(Text(method, "bold"), *(percent(rates.get(place)) for place in places))
    return table


def texts_in_words(gains: pd.DataFrame) -> str:
    """Whether greedy text stayed what it was, in one line."""
    every = gains[gains["by"] == "all"].to_dict("records")
    said = [f"{row['method']} {row['n_same']} of {row['n_pairs']}" for row in every]
    return f"Texts that are the same as without a drafter: {', '.join(said)}."


def _plain(frame: pd.DataFrame) -> Any:
    return json.loads(frame.to_json(orient="records"))
