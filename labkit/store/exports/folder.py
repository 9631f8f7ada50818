"""The run folder itself as one .zip that opens elsewhere: `labkit show FILE.zip`. Secrets are masked on the way.

Folders are masked when they are written; here once more, for those of before. Lines that hold numbers alone, most of a
long run, are copied as they are.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from labkit.core.masking import masked_text
from labkit.core.progress import OnProgress, Progress
from labkit.store.jsonl import to_json
from labkit.store.layout import EVENTS, LOGS, RECORDINGS, RUN
from labkit.store.masking import without_said_secrets, without_secrets
from labkit.store.runs import Run

STORED = frozenset({".parquet", ".zip", ".png"})
"""Packed already: packing them again costs time and saves nothing."""
_NUMBERS = ('"type": "step"', '"type": "samples"', '"type":"step"', '"type":"samples"')
_EVERY = 2000
_STEPS = "steps.parquet"


def write_folder(run: Run, out: Path, on_progress: OnProgress) -> list[Path]:
    """`<run>.zip` in `out`. A run that goes on is packed as far as it is."""
    path = out / f"{run.id}.zip"
    draft = path.with_name(f".{path.name}.new")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in _files(run):
                on_progress(Progress(stage="folder", message=f"packing {file.name}"))
                _add(archive, file, f"{run.id}/{file.relative_to(run.folder)}", on_progress)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return [path]


def _files(run: Run) -> list[Path]:
    """What belongs to a run, and nothing that somebody else put there or that is half written."""
    whole = [path for path in sorted(run.folder.iterdir()) if path.is_file() and not path.name.startswith(".")]
    return [*whole, *sorted((run.folder / LOGS).glob("*.log"))]


def _add(archive: zipfile.ZipFile, file: Path, name: str, on_progress: OnProgress) -> None:
    if file.name == RUN:
        archive.writestr(name, to_json(without_secrets(json.loads(file.read_text(encoding="utf-8"))), indent=1))
    elif file.name == EVENTS:
        _write(archive, name, _events(file, on_progress))
    elif file.name == RECORDINGS:
        with file.open(encoding="utf-8", errors="replace") as lines:
            _write(archive, name, (_line(line, without_said_secrets) for line in lines if line.endswith("\n")))
    elif file.name == _STEPS:
        archive.writestr(name, _steps(file), zipfile.ZIP_STORED)
    elif file.suffix == ".log":
        with file.open(encoding="utf-8", errors="replace") as lines:
            _write(archive, name, map(masked_text, lines))
    else:
        packed = zipfile.ZIP_STORED if file.suffix in STORED else zipfile.ZIP_DEFLATED
        archive.write(file, name, packed)


def _steps(file: Path) -> bytes:
    """The table; with its errors masked where one of before holds a secret."""
    try:
        table = pq.read_table(file)
        errors = table.column("error")
    except (pa.ArrowInvalid, KeyError):
        return file.read_bytes()  # damaged: the events tell the same
    told = [error and masked_text(error) for error in errors.to_pylist()]
    if told == errors.to_pylist():
        return file.read_bytes()
    at = table.schema.get_field_index("error")
    masked = table.set_column(at, table.schema.field(at), pa.array(told, errors.type))
    with io.BytesIO() as kept:
        pq.write_table(masked, kept, compression="zstd")
        return kept.getvalue()


def _write(archive: zipfile.ZipFile, name: str, lines: Iterator[str]) -> None:
    with archive.open(name, "w", force_zip64=True) as target:
        for line in lines:
            target.write(line.encode())


def _events(file: Path, on_progress: OnProgress) -> Iterator[str]:
    """The lines that are whole; one in flight is not lost, it is the next export's."""
    whole, done = file.stat().st_size, 0
    with file.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines):
            done += len(line)
            if number % _EVERY == 0:
                on_progress(Progress(stage="folder", message=f"packing {EVENTS}", done=done, total=whole))
            if line.endswith("\n"):
                yield _masked(line)


def _masked(line: str) -> str:
    """A step without an error and samples hold no text that somebody could have put a secret into."""
    if any(kind in line[:80] for kind in _NUMBERS) and ('"error": null' in line or '"samples"' in line[:80]):
        return line
    return _line(line, without_secrets)


def _line(line: str, without: Callable[[Any], Any]) -> str:
    try:
        return f"{to_json(without(json.loads(line)))}\n"
    except ValueError:
        return masked_text(line)
