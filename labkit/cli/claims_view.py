"""Claims as a terminal shows them: the number, the sentence, and under it all that one must know before quoting it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from labkit.analysis.format import DASH, missing
from labkit.store.claims import load_claims

_LAYERS = {"prefix_caching": "prefix", "pd_split": "pd", "speculation": "spec", "none": DASH}
_READ = {"source read": "", "search excerpt": "read as an excerpt", "own calculation": "our own calculation"}


def show_claims(folder: Path | None, wanted: Mapping[str, str | None], *, full: bool, as_json: bool) -> None:
    """The claims that match all of `wanted`: `layer` exactly, others as a part of the text, whatever the case."""
    claims = matching(load_claims(folder), wanted)
    if as_json:
        print(json.dumps(json.loads(claims.to_json(orient="records")), indent=2))
        return
    console = Console()
    if claims.empty:
        asked = ", ".join(f"{name} {value!r}" for name, value in wanted.items() if value)
        console.print(f"No claim matches {asked}. All of them: labkit claims")
        return
    console.print(claims_table(claims, full))
    n = "1 claim" if len(claims) == 1 else f"{len(claims)} claims"
    console.print(f"{n}. None was measured by this lab; a dash: the claim has no number.", soft_wrap=True)


def matching(claims: pd.DataFrame, wanted: Mapping[str, str | None]) -> pd.DataFrame:
    """The rows that match."""
    for name, value in wanted.items():
        if value and name == "layer":
            claims = claims[claims[name] == value]
        elif value:
            claims = claims[claims[name].str.contains(value, case=False, regex=False)]
    return claims


def claims_table(claims: pd.DataFrame, full: bool) -> Table:
    """One row a claim, wrapped to the terminal."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("layer", no_wrap=True)
    table.add_column("claim", justify="right", max_width=13)
    table.add_column("what, where from, and what to keep in mind", overflow="fold", ratio=1)
    for row in claims.to_dict("records"):
        table.add_row(_LAYERS[row["layer"]], Text(value_in_words(row), "bold"), _words(row, full))
    table.expand = True
    return table


def value_in_words(row: Mapping[Any, Any]) -> str:
    """`2.5x`, `73 %`, `61,354 agents/MW`, with the range under it where one was published."""
    if missing(row["value"]):
        return DASH
    unit = "x" if row["unit"] == "x" else f" {row['unit']}"
    said = f"{row['value']:,g}{unit}"
    if missing(row["low"]) or missing(row["high"]):
        return said
    return f"{said}\n({row['low']:,g} to {row['high']:,g})"


def _words(row: Mapping[Any, Any], full: bool) -> Text:
    text = Text(str(row["statement"]))
    for line in _small(row, full):
        text.append(f"\n{line}", "dim")
    if row["today"]:
        text.append("\ntoday: ", "green").append(str(row["today"]), "default")
    text.append("\nbut: ", "yellow").append(str(row["caution"]), "dim")
    return text.append("\n")


def _small(row: Mapping[Any, Any], full: bool) -> Iterator[str]:
    said = "published" if row["dated"] == "published" else "read"
    how = _READ.get(row["read"], row["read"])
    yield "; ".join(filter(None, (f"{row['source']}, {said} {row['date']}", row["hardware"], how)))
    if row["url"]:
        yield str(row["url"])
    if full:
        names = ("id", "metric", "baseline", "model", "engine", "load", "n")
        yield "; ".join(f"{name}: {row[name]}" for name in names if row[name])
