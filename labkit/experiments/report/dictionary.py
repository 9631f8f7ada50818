"""The data dictionary: every column of the run's tables, as its record declares it."""

from __future__ import annotations

from labkit.analysis.arms import ArmRow
from labkit.core.columns import columns_of
from labkit.core.records import Record
from labkit.experiments.report.blocks import Grid, More, Section, Words
from labkit.store.tables import TABLES

_MEANING = {
    "steps": "a row per request",
    "chunks": "a row per event of a stream",
    "telemetry": "a row per value that was sampled",
    "arms": "a row per arm, computed from the other tables",
}


def dictionary() -> Section:
    """The section: a folded table for each table of a run."""
    declared: dict[str, type[Record]] = {**TABLES, "arms": ArmRow}
    words = Words(
        "The run's folder holds these tables as Parquet; `labkit export` writes them as CSV, JSON or Parquet, with "
        "columns.json beside them. Not measured is null in every table, never 0."
    )
    folded = (More(f"{name}: {_MEANING[name]}", (columns_grid(record),)) for name, record in declared.items())
    return Section("columns", "Data dictionary", (words, *folded))


def columns_grid(record: type[Record]) -> Grid:
    """The columns that a record declares."""
    rows = tuple(
        (column.name, column.dtype, column.unit, "may be null" if column.nullable else "", column.meaning)
        for column in columns_of(record)
    )
    return Grid(("column", "type", "unit", "", "meaning"), rows, words=(0, 1, 2, 3, 4))
