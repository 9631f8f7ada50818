"""What was run: `labkit runs`, `labkit show`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

import pandas as pd
import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from labkit.analysis.acceptance import acceptance_by_kind
from labkit.analysis.arms import in_order
from labkit.analysis.format import count, percent, plain
from labkit.cli.about import STATE_STYLES, about
from labkit.cli.arms_view import parts_of, print_arms
from labkit.core.clock import SystemClock
from labkit.core.records import RunInfo
from labkit.store.frames import query
from labkit.store.runs import RunStore

_COUNTS = "select run, count(*) as steps, list(distinct arm) as arms from steps where not warmup group by run"

RunName = Annotated[str, typer.Argument(metavar="RUN", help="Id, its start or end, `latest`, a folder or a .zip.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("runs")(list_runs)
    app.command("show")(show)


def list_runs() -> None:
    """List the runs, newest first.

    Example: [bold]labkit runs[/bold]
    """
    store = RunStore()
    infos = store.list()
    unreadable = store.unreadable()
    console = Console()
    if not infos and not unreadable:
        console.print(f"No runs in {store.root} yet. Make one with: labkit run quick", soft_wrap=True)
        return
    counts = {run: (steps, list(arms)) for run, steps, arms in query(store, _COUNTS).itertuples(index=False)}
    console.print(_runs_table(infos, counts))
    for folder, error in unreadable.items():
        console.print(Text(f"does not open: {folder.name}: {error.message}", "red"), soft_wrap=True)


def show(run: RunName) -> None:
    """Show one run: what it was, its arms side by side, and where its folder is.

    Example: [bold]labkit show latest[/bold]
    """
    opened = RunStore().open(run)
    console = Console()
    console.print(about(opened), "")
    if opened.steps().empty:
        console.print("No step has finished.")
        return
    from labkit.cli.printed import PRINTED  # here: scipy would slow down every other command

    if own := PRINTED.get(opened.info.experiment):
        own(opened, console)
        return
    print_arms(opened, console)
    for part in parts_of(opened):
        kinds = acceptance_by_kind(part.steps)
        if len(kinds):
            console.print("", _kinds_table(kinds, part.title("Acceptance by kind of step")))


def _runs_table(infos: Sequence[RunInfo], counts: Mapping[str, tuple[int, list[str]]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("run", "state", "when"):
        table.add_column(name, no_wrap=True)
    table.add_column("steps", justify="right")
    table.add_column("arms")
    now = SystemClock().wall()
    for info in infos:
        steps, arms = counts.get(info.id, (0, []))
        state = Text(info.state, STATE_STYLES[info.state])
        table.add_row(info.id, state, ago(info.created, now), count(steps), ", ".join(in_order(arms)))
    return table


def ago(created: str, now: datetime) -> str:
    """How long ago an ISO time was: `40 s ago`, `3 min ago`, `5 h ago`, `12 d ago`."""
    seconds = max(0.0, (now - datetime.fromisoformat(created)).total_seconds())
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return f"{seconds:.0f} s ago"


def _kinds_table(kinds: pd.DataFrame, title: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title=title)
    table.title_justify, table.title_style = "left", "bold"
    for name in ("arm", "kind"):
        table.add_column(name)
    for name in ("steps", "drafted", "accepted", "rate", "length"):
        table.add_column(name, justify="right")
    for row in kinds.to_dict("records"):
        numbers = (count(row["n"]), count(row["drafted"]), count(row["accepted"]))
        table.add_row(row["arm"], row["kind"], *numbers, percent(row["rate"]), plain(row["length"]))
    return table
