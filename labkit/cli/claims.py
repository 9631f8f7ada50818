"""`labkit claims`: what others published, with who, when, on what, and what to keep in mind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add `claims` to the command line."""
    app.command(epilog="Example: labkit claims --layer speculation --hardware mi3")(claims)


def claims(
    layer: Annotated[
        str | None, typer.Option(help="prefix_caching, pd_split, speculation, or none (about no single layer).")
    ] = None,
    metric: Annotated[str | None, typer.Option(help="Part of a metric's name, such as ttft or hit_rate.")] = None,
    hardware: Annotated[str | None, typer.Option(help="Part of the hardware's name, such as mi300x.")] = None,
    folder: Annotated[Path | None, typer.Option(help="A folder of your own, in place of data/claims.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Model, engine, load and n of each claim, too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """List published claims. None of them was measured by this lab.

    Example: labkit claims --layer speculation --hardware mi3
    """
    from labkit.cli.claims_view import show_claims  # here: pandas would slow down every other command
    from labkit.core.arms import LAYERS
    from labkit.core.names import pick

    if layer is not None:
        pick("layer", layer, {name: name for name in (*LAYERS, "none")}, "labkit claims")
    show_claims(folder, {"layer": layer, "metric": metric, "hardware": hardware}, full=full, as_json=json)
