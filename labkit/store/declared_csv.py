"""Reading a CSV file whose columns a record declares: every cell checked, every error with file, line and field."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from labkit.core.columns import Column, columns_of
from labkit.core.errors import BadInput
from labkit.core.records import Record

R = TypeVar("R", bound=Record)
_PARSE: dict[str, Callable[[str], Any]] = {"string": str, "float64": float, "int64": int, "bool": lambda t: t == "true"}


def read_declared(path: Path, record: type[R]) -> Iterator[tuple[int, R]]:
    """Line number and record of each row. An empty cell is null, or an empty text where a column cannot be null.

    Raises BadInput for a file that cannot be read, other columns than the declared ones, or a cell of another type.
    """
    columns = columns_of(record)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(str(path), str(error), "a UTF-8 CSV file that can be read") from error
    reader = csv.DictReader(text.splitlines(keepends=True), strict=True)
    if list(reader.fieldnames or ()) != [column.name for column in columns]:
        wanted = ", ".join(column.name for column in columns)
        raise BadInput(f"{path.name}: columns", list(reader.fieldnames or ()), f"exactly, in this order: {wanted}")
    for row in reader:
        if None in row or None in row.values():
            raise BadInput(f"{path.name} line {reader.line_num}", row, f"{len(columns)} cells")
        where = f"{path.name} line {reader.line_num}"
        yield reader.line_num, record(**{c.name: _cell(where, c, row[c.name]) for c in columns})


def _cell(where: str, column: Column, text: str) -> Any:
    text = text.strip()
    if not text and column.nullable:
        return None
    try:
        return _PARSE[column.dtype](text)
    except ValueError as error:
        raise BadInput(f"{where}, {column.name}", text, f"{column.dtype}: {column.meaning}") from error


def frame_of(record: type[Record], rows: list[R]) -> pd.DataFrame:
    """The rows as a table with the declared dtypes; null is NaN or NA."""
    columns = columns_of(record)
    frame = pd.DataFrame([row.to_dict() for row in rows], columns=[column.name for column in columns])
    return frame.astype({c.name: "Int64" if c.dtype == "int64" and c.nullable else c.dtype for c in columns})
