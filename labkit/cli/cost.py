"""`labkit cost`: what a run cost, and every assumption that the number rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from labkit.core.errors import BadInput


def register(app: typer.Typer) -> None:
    """Add `cost` to the command line."""
    app.command(epilog="Example: labkit cost latest --price mi300x-8-rent --set rent_per_gpu_hour=2.1")(cost)


def cost(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="Id, its start or end, `latest`, a folder or a .zip.")
    ] = None,
    price: Annotated[
        str | None, typer.Option(help="A name of --list; default: the prices of the run's own machine.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="A TOML file of your own, in place of data/prices.toml.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=NUMBER", help="Another value for one of the figures.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Show the prices and what they are made of.")] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Cost of published results, recomputed from their rates.")
    ] = False,
    rates: Annotated[
        Path | None, typer.Option(help="For --published: a CSV of your own, in place of data/published_rates.csv.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """Cost of a run: per task, per solved task and per million tokens, with every assumption beside it.

    The whole machine is paid for, all its GPUs, for as long as the run measured: this is the cost at the load of the
    run. Failed and truncated tasks are paid for, too.

    Example: labkit cost latest --price mi300x-8-rent --set rent_per_gpu_hour=2.1
    """
    from labkit.cli import cost_view, recost_view  # here: pandas and pyarrow would slow down every other command
    from labkit.core.clock import SystemClock
    from labkit.store.prices import load_prices, set_values

    known = load_prices(prices)
    chosen = known.named(price) if price else known
    today = SystemClock().wall().date().isoformat()
    console = Console()
    if list_:
        cost_view.show_prices(set_values(chosen, set_ or [], today), console)
    elif published:
        recost_view.show_published(set_values(chosen, set_ or [], today), rates, console, as_json=json)
    elif run is None:
        raise BadInput("run", None, "a run of `labkit runs`, or --list or --published", "labkit cost latest")
    else:
        cost_view.show_run(run, known, price, set_ or [], today, console, as_json=json)
