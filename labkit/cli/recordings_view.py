"""The recordings as a terminal shows them: a narrow one gets fewer columns, and whole names."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from labkit.traffic.recording import Recording

_LESS = ("task", "last prompt", "decided by", "reached")
"""Columns that a narrow terminal goes without, in this order; names are needed whole, to replay them."""


def recordings_view(recordings: Mapping[str, Recording], width: int) -> Table:
    """A row for each, by its name, with as many columns as fit `width` cells."""
    rows = [_row(name, recording) for name, recording in recordings.items()]
    tables = [_table(rows, _LESS[:dropped]) for dropped in range(len(_LESS) + 1)]
    return next((table for table in tables if Console(width=1000).measure(table).maximum <= width), tables[-1])


def _row(name: str, recording: Recording) -> dict[str, str]:
    header, last = recording.header, recording.steps[-1].usage.prompt_tokens
    return {
        "recording": name,
        "task": header.task,
        "decided by": header.decided_by,
        "steps": str(len(recording.steps)),
        "last prompt": "-" if last is None else str(last),
        "reached": {True: "yes", False: "no", None: "-"}[header.reached],
    }


def _table(rows: list[dict[str, str]], without: tuple[str, ...]) -> Table:
    table = Table(box=None, header_style="bold")
    shown = [column for column in (rows[0] if rows else {"recording": ""}) if column not in without]
    for column in shown:
        table.add_column(column, no_wrap=True, overflow="fold" if column == "recording" else "ellipsis")
    for row in rows:
        table.add_row(*(row[column] for column in shown))
    return table
