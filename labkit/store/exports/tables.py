"""The run's tables as CSV, Parquet or JSON, for notebooks and spreadsheets.

A sidecar `columns.json` says the unit and meaning of every column, since a CSV header cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from labkit.core.columns import columns_of
from labkit.core.progress import OnProgress, Progress, silent
from labkit.core.records import Record
from labkit.store.jsonl import to_json
from labkit.store.layout import replace_file
from labkit.store.runs import Run
from labkit.store.tables import TABLES

Extra = Mapping[str, tuple[pd.DataFrame, type[Record]]]
"""More tables by name, each with the record that declares its columns."""


def write_tables(run: Run, fmt: str, out: Path, extra: Extra, on_progress: OnProgress = silent) -> list[Path]:
    """Steps, chunks, telemetry and `extra`, a file each; then `columns.json`."""
    frames = {"steps": run.steps(), "chunks": run.chunks(), "telemetry": run.samples()}
    declared = dict(TABLES)
    for name, (frame, record) in extra.items():
        frames[name], declared[name] = frame, record
    files = []
    for done, (name, frame) in enumerate(frames.items()):
        message = f"writing {len(frame):,} rows of {name}"
        on_progress(Progress(stage=fmt, message=message, done=done, total=len(frames)))
        files.append(_written(frame, out / f"{name}.{fmt}"))
    return [*files, _columns_file(declared, out / "columns.json")]


def _written(frame: pd.DataFrame, path: Path) -> Path:
    writers: dict[str, Callable[[pd.DataFrame, Path], None]] = {
        ".csv": lambda f, p: f.to_csv(p, index=False),
        ".parquet": lambda f, p: f.to_parquet(p, index=False),
        ".json": lambda f, p: f.to_json(p, orient="records", indent=1, double_precision=15, force_ascii=False),
    }
    writers[path.suffix](frame, path)
    return path


def _columns_file(declared: Mapping[str, type[Record]], path: Path) -> Path:
    tables = {name: [asdict(column) for column in columns_of(record)] for name, record in declared.items()}
    replace_file(path, to_json(tables, indent=1).encode())
    return path
