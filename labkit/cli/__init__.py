"""The `labkit` command: parse, call, print. One module per group of commands."""

from __future__ import annotations

import importlib
import sys

import typer
from rich.console import Console

from labkit.core.errors import LabError

app = typer.Typer(
    name="labkit",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Which of prefix caching, prefill/decode split and speculation pays for your agent: measured, paired, on your engine.",
)

_GROUPS = ("models", "plan", "fleet", "agent", "replay", "run", "runs")
"""Modules of this package with a `register(app)` function, in the order of the help page."""


def main() -> None:
    """Run the command line; a LabError is printed and ends with status 1."""
    for group in _GROUPS:
        importlib.import_module(f"labkit.cli.{group}").register(app)
    try:
        app()
    except LabError as error:
        Console(stderr=True).print(f"[bold red]error:[/] {error}", markup=True, highlight=False)
        sys.exit(1)
