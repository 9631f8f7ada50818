"""The `labkit` command: parse, call, print. One module per group of commands."""

from __future__ import annotations

import functools
import importlib
import sys

import typer
from rich.console import Console
from rich.text import Text

from labkit.core.errors import LabError

app = typer.Typer(
    name="labkit",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Which of prefix caching, prefill/decode split and speculation pays for your agent, measured and paired.",
)

_GROUPS = (
    "models",
    "plan",
    "fleet",
    "doctor",
    "agent",
    "import_log",
    "attach",
    "replay",
    "run",
    "run_factorial",
    "run_interference",
    "run_confirm",
    "run_capacity",
    "run_steps",
    "run_speculation",
    "run_live",
    "runs",
    "ledger",
    "report",
    "compare",
    "export",
    "cost",
    "claims",
    "matrix",
)
"""Modules of this package with a `register(app)` function, in the order of the help page."""


@functools.cache
def build() -> typer.Typer:
    """The app with every group's commands registered."""
    for group in _GROUPS:
        importlib.import_module(f"labkit.cli.{group}").register(app)
    return app


def main() -> None:
    """Run the command line; a LabError is printed and ends with status 1."""
    try:
        build()()
    except LabError as error:
        Console(stderr=True, soft_wrap=True).print(Text("error: ", "bold red").append(str(error), "default"))
        sys.exit(1)
