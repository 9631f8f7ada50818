"""From events to typed tables: the one way from `events.jsonl` to Arrow, Parquet and pandas.

A live, a killed and a finished run all go through `Collected`, so they cannot disagree. Null means "not measured":
Arrow null, pandas NA (NaN in float columns).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from labkit.core.columns import Column, columns_of
from labkit.core.errors import BadInput, RunUnreadable
from labkit.core.records import SCHEMA, ChunkRecord, Record, SampleRecord, StepRecord
from labkit.store.jsonl import cannot_write

TABLES: dict[str, type[Record]] = {"steps": StepRecord, "chunks": ChunkRecord, "telemetry": SampleRecord}
"""Every table of a run, by its file's name."""

_ARROW = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}
_PYTHON: dict[str, tuple[type, ...]] = {"string": (str,), "int64": (int,), "float64": (float, int), "bool": (bool,)}
_columns: Callable[[type], tuple[Column, ...]] = functools.cache(columns_of)
_PIECES = 32
"""A table that grew in more pieces than this is made one again."""
_CHUNK_OWN = ("index", "t", "kind", "chars", "tokens")
_CHUNK_KEY = tuple(c.name for c in _columns(ChunkRecord) if c.name not in _CHUNK_OWN)


def checked(record: Record) -> dict[str, Any]:
    """The record as a row. Raises BadInput for a value that its declared column cannot hold."""
    columns = _columns(type(record))
    row = {column.name: _encodable(getattr(record, column.name)) for column in columns}
    for column in columns:
        _check(type(record).__name__, column, row[column.name])
    return row


def _check(table: str, column: Column, value: object) -> None:
    if value is None and column.nullable:
        return
    if not _fits(column, value):
        allowed = column.dtype + (" or None" if column.nullable else "")
        raise BadInput(f"{table}.{column.name}", value, allowed, f"It holds: {column.meaning}.")


def schema_of(table: str) -> pa.Schema:
    """The Arrow schema of a table of TABLES; the labkit schema number is in its metadata."""
    fields = [pa.field(c.name, _ARROW[c.dtype], nullable=c.nullable) for c in _columns(TABLES[table])]
    return pa.schema(fields, metadata={"labkit_schema": str(SCHEMA)})


def _encodable(value: Any) -> Any:
    """The value; in a text, half of a surrogate pair (a model can stop there) becomes `?`."""
    return value.encode(errors="replace").decode() if isinstance(value, str) and not value.isascii() else value


def _fits(column: Column, value: object) -> bool:
    if isinstance(value, bool) != (column.dtype == "bool") or not isinstance(value, _PYTHON[column.dtype]):
        return False
    if isinstance(value, int):
        return abs(value) < 2**63
    return column.nullable or not isinstance(value, float) or math.isfinite(value)


class Collected:
    """The rows of all tables, fed event by event; also what the events say about the run's end.

    What was asked for once stays Arrow, so that asking again costs what came since: a live run is asked every second.
    """

    def __init__(self) -> None:
        self._columns: dict[str, dict[str, list[Any]]] = {
            table: {column.name: [] for column in _columns(record)} for table, record in TABLES.items()
        }
        self._made: dict[str, pa.Table] = {table: schema_of(table).empty_table() for table in TABLES}
        self.finish: Mapping[str, Any] | None = None

    def feed(self, run: str, event: Mapping[str, Any]) -> None:
        """Take one event. Raises KeyError, TypeError or BadInput when its columns are not there or do not fit."""
        if event["type"] == "step":
            step = checked(StepRecord.from_dict({**event["step"], "run": run}))
            chunks = [_chunk_row(step, chunk) for chunk in event["chunks"]]
            self._add("steps", [step])
            self._add("chunks", chunks)
        elif event["type"] == "samples":
            self._add("telemetry", [checked(SampleRecord.from_dict({**s, "run": run})) for s in event["samples"]])
        elif event["type"] == "void":
            self._throw_away(event)
        elif event["type"] == "resume":
            self.finish = None
        elif event["type"] == "finish":
            self.finish = event

    def _throw_away(self, event: Mapping[str, Any]) -> None:
        """Mark what an arm sent from `t_from` to `t_to` (s) as warm-up: it stays, and counts no more.

        With `node` only what was sent to engines of that node, which are called `<node>/...`.
        """
        for table in ("steps", "chunks"):
            self._open_again(table)
        steps, chunks, since = self._columns["steps"], self._columns["chunks"], event["t_from"]
        times = enumerate(zip(steps["arm"], steps["t_send"], steps["engine"], strict=True))
        there = f"{event['node']}/" if event.get("node") else ""
        sent = [
            n
            for n, (arm, t, engine) in times
            if arm == event["arm"] and since <= t <= event["t_to"] and engine.startswith(there)
        ]
        keys = {tuple(steps[name][n] for name in _CHUNK_KEY) for n in sent}
        for n in sent:
            steps["warmup"][n] = True
        for n, key in enumerate(zip(*(chunks[name] for name in _CHUNK_KEY), strict=True)):
            if key in keys and chunks["t"][n] >= since:
                chunks["warmup"][n] = True

    def _add(self, table: str, rows: list[dict[str, Any]]) -> None:
        for name, values in self._columns[table].items():
            values.extend([row[name] for row in rows])

    def _open_again(self, table: str) -> None:
        """Rows that are Arrow already as lists again, to be changed; seldom, and then they are all looked through."""
        made, self._made[table] = self._made[table], schema_of(table).empty_table()
        for name, values in self._columns[table].items():
            values[:0] = made[name].to_pylist()

    def count(self, table: str) -> int:
        """Rows so far."""
        return int(self._made[table].num_rows) + len(next(iter(self._columns[table].values())))

    def arrow(self, table: str) -> pa.Table:
        """The table so far. Raises RunUnreadable when a value does not fit its declared column."""
        new = self._columns[table]
        try:
            made = pa.concat_tables([self._made[table], pa.table(new, schema=schema_of(table))])
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise RunUnreadable(f"events.jsonl holds a value that does not fit {table}: {error}") from error
        many = made.column(0).num_chunks > _PIECES
        self._made[table] = made.combine_chunks() if many else made
        self._columns[table] = {name: [] for name in new}
        return self._made[table]


def chunk_event(chunk: ChunkRecord) -> dict[str, Any]:
    """A chunk as the step's event holds it: without what it shares with its step."""
    row = checked(chunk)
    return {name: row[name] for name in _CHUNK_OWN}


def _chunk_row(step: Mapping[str, Any], chunk: Mapping[str, Any]) -> dict[str, Any]:
    return {name: step[name] for name in _CHUNK_KEY} | {name: chunk[name] for name in _CHUNK_OWN}


def write_parquet(table: pa.Table, path: Path) -> None:
    """Write `path` whole or not at all. Raises LabError when the disk refuses."""
    draft = path.with_name(f".{path.name}.new")
    try:
        pq.write_table(table, draft, compression="zstd")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise cannot_write(path, error) from error


def current_parquet(path: Path) -> bool:
    """Whether `path` is a whole table with this labkit's columns; if not, the events tell the same.

    Columns with a default may come without a new schema, so the names are compared, too.
    """
    try:
        found = pq.read_schema(path)
    except (OSError, pa.ArrowInvalid):
        return False
    same = (found.metadata or {}).get(b"labkit_schema") == str(SCHEMA).encode()
    return same and path.stem in TABLES and found.names == schema_of(path.stem).names


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Arrow to pandas: `string`, `bool`, `float64` (NaN is null), and `Int64` for integers that may be null."""
    nullable_int = {pa.int64(): pd.Int64Dtype(), pa.string(): pd.StringDtype()}
    frame: pd.DataFrame = table.to_pandas(types_mapper=nullable_int.get)
    whole = [f.name for f in table.schema if f.type == pa.int64() and not f.nullable]
    return frame.astype(dict.fromkeys(whole, "int64"))


def compact_frame(source: pa.Table | Path) -> pd.DataFrame:
    """As `to_frame`, but each distinct text is kept once: the texts are categories, in their order as texts.

    `source`: a table, or its Parquet file. At a million chunks this is a third of the memory and a fifth of the time.
    """
    if isinstance(source, Path):
        texts = [f.name for f in schema_of(source.stem) if f.type == pa.string()]
        source = pq.read_table(source, read_dictionary=texts)
    columns = [c.dictionary_encode() if c.type == pa.string() else c for c in source.columns]
    coded = pa.table(columns, names=source.column_names).unify_dictionaries()
    frame = to_frame(coded.cast(pa.schema(f.with_nullable(source.schema.field(f.name).nullable) for f in coded.schema)))
    for name in frame.select_dtypes("category"):
        frame[name] = frame[name].cat.reorder_categories(sorted(frame[name].cat.categories))
    return frame
