"""Where the seconds went: wall time in parts that add up, per arm, and whether the client was in the way."""

from __future__ import annotations

from typing import Any

from labkit.analysis.format import missing, percent, seconds
from labkit.analysis.ledger import PARTS
from labkit.analysis.ledger import ledger as ledger_rows
from labkit.experiments.compared import Part
from labkit.experiments.report.blocks import Block, Grid, Words, drawn
from labkit.experiments.report.english import capital, records, sentence
from labkit.experiments.report.material import Material, drawable
from labkit.experiments.report.results.by_cache import by_cache
from labkit.plots.wall_ledger import wall_ledger_figure, wall_ledger_info

_NAMES = {"client_lag": "client lag"}
_NOTE = (
    "Summed over finished requests, from when a request was due to when the next one is. The parts add up to the wall "
    "time; other is what no clock names, and unaccounted its size in each request, summed, over wall without tools. A "
    "dash: not measured, and then it is in other."
)


def ledger(material: Material) -> tuple[Block, ...]:
    """Figure, table and the client's own health; nothing without a finished request."""
    blocks = by_cache(material, "Where the seconds went", _part)
    return (*blocks, Words(_client(material))) if blocks else ()


def _part(of: Part) -> tuple[Block, ...]:
    steps = drawable(of.steps)
    table = records(ledger_rows(steps))
    if not table:
        return ()
    parts = [part for part in PARTS if not all(missing(row[part]) for row in table)]
    head = ("arm", "n", *(_NAMES.get(part, part) for part in parts), "wall", "unaccounted")
    grid = Grid(head, tuple(_row(row, parts) for row in table), "Wall time by what it was spent on", _NOTE)
    return *drawn(wall_ledger_info(steps), wall_ledger_figure), grid


def _row(row: dict[str, Any], parts: list[str]) -> tuple[str, ...]:
    shown = (seconds(row[part]) for part in parts)
    return (row["arm"], str(row["n"]), *shown, seconds(row["wall"]), percent(row["unaccounted_share"]))


def _client(material: Material) -> str:
    client = material.client
    said = f"The lab on itself (p50 / p99): {client.described()}"
    return f"{sentence(said)} {sentence(capital(client.in_words()))}".strip()
