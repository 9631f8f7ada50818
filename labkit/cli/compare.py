"""`labkit compare`: two runs side by side, what differs between them first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from labkit.experiments.comparison import RunComparison


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("compare", epilog="Example: labkit compare 3fa2c1 latest --out comparison.html")(compare)


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A run: its id, start or end of it, a folder or a .zip.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another: gains are of B over A.")] = "latest",
    out: Annotated[Path | None, typer.Option(help="Write the comparison as one HTML file, too.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON on stdout; everything else on stderr.")
    ] = False,
) -> None:
    """Compare two runs: what they ran on, whether their requests are the same, and what B gains over A.

    Paired request by request where the requests are the same; where they are not, two groups of tasks, and said so.
    """
    from labkit.cli.compare_view import show  # here: scipy and pandas would slow down every other command
    from labkit.core.errors import BadInput
    from labkit.experiments.comparison import compare_runs
    from labkit.experiments.report import write_comparison_of
    from labkit.store.runs import RunStore

    store = RunStore()
    one, other = store.open(a), store.open(b)
    if b == "latest" and one.folder == other.folder:
        raise BadInput("B", b, "another run than A", "Name both. List them with: labkit runs")
    found = compare_runs(one, other)
    console = Console(stderr=as_json)
    show(found, console)
    if out is not None:
        console.print(f"Written: {write_comparison_of(found, out)}", highlight=False, soft_wrap=True)
    if as_json:
        typer.echo(_json(found))


def _json(found: RunComparison) -> str:
    """The comparison as one line; null is "not measured"."""
    sides = {
        name: {
            "run": side.run.id,
            "cold": [one.to_dict() for one in side.cold],
            "resets": [one.to_dict() for one in side.resets],
            "solved": json.loads(side.solved.to_json(orient="records")),
        }
        for name, side in (("a", found.a), ("b", found.b))
    }
    differing = {"fingerprint": found.fingerprint, "asked": found.asked}
    return json.dumps(
        {
            **{name: [one._asdict() for one in differences] for name, differences in differing.items()},
            **sides,
            "requests": [row.to_dict() for row in found.requests],
            "table": json.loads(found.table.to_json(orient="records")),
        },
        default=str,
    )
