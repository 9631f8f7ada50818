"""`--ray`: one name, one meaning, one help text."""

from __future__ import annotations

from typing import Annotated

import typer

Ray = Annotated[
    str | None,
    typer.Option(metavar="auto|HOST:PORT", help="Spread whole repeats over the nodes of this Ray cluster."),
]
