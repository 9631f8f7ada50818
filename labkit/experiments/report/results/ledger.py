"""Where the seconds went: wall time in parts that add up, per arm, and whether the client was in the way."""

from __future__ import annotations

from typing import Any

from labkit.analysis.format import missing, percent, seconds
from labkit.analysis.ledger import PARTS
from labkit.experiments.report.blocks import Block, Grid, Heading, Words, drawn
from labkit.experiments.report.english import capital, records, sentence
from labkit.experiments.report.material import Material
from labkit.plots.wall_ledger import wall_ledger_figure, wall_ledger_info

_NAMES = {"client_lag": "client lag"}
_NOTE = (
    "Summed over finished requests, from when a request was due to when the next one is. The parts add up to the wall "
    "time; other is what no clock names. A dash: not measured, and then it is in other."
)


def ledger(material: Material) -> tuple[Block, ...]:
    """Figure, table and the client's own health; nothing without a finished request."""
    table = records(material.ledger)
    if not table:
        return ()
    parts = [part for part in PARTS if not all(missing(row[part]) for row in table)]
    head = ("arm", "n", *(_NAMES.get(part, part) for part in parts), "wall", "unaccounted")
    grid = Grid(head, tuple(_row(row, parts) for row in table), "Wall time by what it was spent on", _NOTE)
    figure = drawn(wall_ledger_info(material.drawable), wall_ledger_figure)
    return Heading("Where the seconds went"), *figure, grid, Words(_client(material))


def _row(row: dict[str, Any], parts: list[str]) -> tuple[str, ...]:
    shown = (seconds(row[part]) for part in parts)
    return (row["arm"], str(row["n"]), *shown, seconds(row["wall"]), percent(row["unaccounted_share"]))


def _client(material: Material) -> str:
    client = material.client
    said = f"The lab on itself (p50 / p99): {client.described()}"
    return f"{sentence(said)} {sentence(capital(client.in_words()))}".strip()
