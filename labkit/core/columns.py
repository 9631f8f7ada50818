"""Every table is declared: a column has a name, a dtype, a unit and a meaning.

A record's fields carry their own column (`field(...)` below), so record, Parquet schema, DataFrame and documentation
cannot drift apart. "Not measured" is null in every column that allows it, never 0.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

Dtype = Literal["string", "int64", "float64", "bool"]


@dataclass(frozen=True)
class Column:
    """One column of a table. `unit` is empty for names and flags."""

    name: str
    dtype: Dtype
    unit: str
    meaning: str
    nullable: bool


def column(dtype: Dtype, unit: str, meaning: str, *, nullable: bool = False, default: object = None) -> Any:
    """A dataclass field that knows its column. A nullable one defaults to None; `default` for one that is not."""
    metadata = {"dtype": dtype, "unit": unit, "meaning": meaning, "nullable": nullable}
    if nullable or default is not None:
        return dataclasses.field(default=default, metadata=metadata)
    return dataclasses.field(metadata=metadata)


def columns_of(record: type) -> tuple[Column, ...]:
    """The columns that a record class declares, in order."""
    return tuple(Column(name=f.name, **f.metadata) for f in dataclasses.fields(record) if f.metadata)
