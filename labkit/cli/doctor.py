"""`labkit doctor`: what is wrong here and what to do about it."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from labkit.cli.plan import DEFAULT_PROFILE, ProfileOption
from labkit.doctor.records import AREAS, Area, Check, Extent, Report, Runnable, Status

FAILED = 3
_EXTENTS: dict[Extent, tuple[str, str]] = {"all": ("✓", "green"), "some": ("!", "yellow"), "none": ("-", "dim")}
"""That a laptop runs no GPU profile is no fault of it."""
_LOOKS: dict[Status, tuple[str, str]] = {
    "fail": ("✗", "bold red"),
    "warn": ("!", "yellow"),
    "unknown": ("?", "cyan"),
    "ok": ("✓", "green"),
}


def register(app: typer.Typer) -> None:
    """Add `doctor` to the command line."""
    app.command()(doctor)


def doctor(
    profile: ProfileOption = DEFAULT_PROFILE,
    recording: Annotated[
        str | None, typer.Option(help="Check its prompts, too: a recording, a chat log, or a .jsonl of request bodies.")
    ] = None,
    thorough: Annotated[bool, typer.Option("--thorough", help="Compare every byte of the weights (slower).")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
) -> None:
    """Check this machine: what is installed, what is in the way, which arms of which profile run. Starts nothing.

    Ends with status 0 when nothing failed, with 3 when something did.

    Example: [bold]labkit doctor --recording quoted-newlines[/bold]
    """
    from labkit.experiments.check_up import check_up  # here: it would slow down every other command

    say(check_up(profile, recording=recording, thorough=thorough), as_json)


def say(report: Report, as_json: bool = False) -> None:
    """Print the report; raises typer.Exit when something failed."""
    if as_json:
        typer.echo(json.dumps(report.to_dict(), indent=1))
    else:
        _print(report, Console())
    if report.failed:
        raise typer.Exit(FAILED)


def _print(report: Report, console: Console) -> None:
    for area, about in AREAS.items():
        console.print(Text(area, "bold"))
        checks = report.in_area(area)
        console.print(_table(checks) if checks else _not_yet(area, about), "")
    if report.runnable:
        console.print(Text("what can be run here", "bold"))
        console.print(_runnable(report.runnable, report.profile), "")
    console.print(Text(f"{report.summary}. Profile {report.profile}, {report.took_s:.1f} s."))


def _runnable(profiles: tuple[Runnable, ...], chosen: str) -> Table:
    """One row a shipped profile: the arms that can be run now, and what is in the way of the others."""
    table = Table.grid(padding=(0, 1))
    for fold in (False, False, True):
        table.add_column(overflow="fold", no_wrap=not fold)
    for each in profiles:
        sign, style = _EXTENTS[each.extent]
        table.add_row(
            Text(f"  {sign}", style), Text(each.profile, "bold" if each.profile == chosen else ""), Text(each.sentence)
        )
    return table


def _not_yet(area: Area, about: str) -> Text:
    hint = " Give a recording: labkit doctor --recording NAME" if area == "prompt prefix" else ""
    return Text(f"  {about}{hint}", "dim")


def _table(checks: tuple[Check, ...]) -> Table:
    """One row a check; what to do stands under what was found, and why only where something is to be done."""
    table = Table.grid(padding=(0, 1))
    for fold in (False, False, True):
        table.add_column(overflow="fold", no_wrap=not fold)
    for check in checks:
        sign, style = _LOOKS[check.status]
        table.add_row(Text(f"  {sign}", style), Text(check.name), _said(check))
    return table


def _said(check: Check) -> Text:
    lines = [(check.found, ""), (check.why if check.todo else "", "dim"), (check.todo, ""), (check.command, "bold")]
    return Text("\n").join(Text(line, style) for line, style in lines if line)
