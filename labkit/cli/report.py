"""`labkit report`: a run as one page that opens offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RunName = Annotated[str, typer.Argument(metavar="RUN", help="Id, its start or end, `latest`, a folder or a .zip.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("report", epilog="Example: labkit report latest --open")(report)


def report(
    run: RunName = "latest",
    out: Annotated[Path | None, typer.Option(help="File to write; default: report.html in the run's folder.")] = None,
    price: Annotated[
        str | None, typer.Option(help="Add what it cost at this price: a name of `labkit cost --list`.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Write a run as one HTML file: method, results with intervals, limits, fingerprint.

    The file holds its figures and needs no network: it can be mailed, printed and read offline.
    """
    from labkit.experiments.report import write_report  # here: plotly and scipy would slow down every other command
    from labkit.store.prices import load_prices
    from labkit.store.runs import RunStore

    prices = load_prices().named(price) if price else None
    path = write_report(RunStore().open(run), out, prices)
    typer.echo(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
    if open_:
        _open(path)


def _open(path: Path) -> None:
    """In the browser; where there is none, one line that says so and where the file is."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        typer.echo(f"There is no browser here. Open it elsewhere: {path.resolve()}", err=True)
