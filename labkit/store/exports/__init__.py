"""A run in the files that other tools read, one module or package per format.

Nulls stay nulls: absent or null in every format, never 0. A failed step stays in, as that format's error. A number
that tools define differently is written by the definition of the tool whose format it is; `docs/exports.md` has them
side by side. Nothing is written that the run folder does not hold, and no environment variable is.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from labkit.core.errors import BadInput
from labkit.core.progress import OnProgress, Progress, silent
from labkit.store.exports.aiperf import write_aiperf
from labkit.store.exports.folder import write_folder
from labkit.store.exports.llmd import write_llmd
from labkit.store.exports.otlp import write_otlp
from labkit.store.exports.perfetto import write_perfetto
from labkit.store.exports.tables import Extra, write_tables
from labkit.store.jsonl import cannot_write
from labkit.store.runs import Run

__all__ = ["ALL", "FOLDER", "FORMATS", "Extra", "Format", "export"]

Format = Literal["csv", "parquet", "json", "aiperf", "llmd", "otlp", "perfetto"]
FORMATS: tuple[str, ...] = get_args(Format)
ALL = "all"
FOLDER = "folder"
"""The run folder itself, zipped; not among `all`, which is what is made from it."""

_WRITERS: dict[str, Callable[[Run, Path, OnProgress], list[Path]]] = {
    "aiperf": write_aiperf,
    "llmd": write_llmd,
    "otlp": write_otlp,
    "perfetto": write_perfetto,
    FOLDER: write_folder,
}


def export(run: Run, fmt: str, out: Path, extra: Extra | None = None, on_progress: OnProgress = silent) -> list[Path]:
    """Write the run to the folder `out` as `fmt`, or with `all` as every format, each in a folder of its own.

    `folder` is the run folder itself, as a .zip. `extra`: tables computed from the run's, such as the arm table, for
    csv, parquet and json. Returns what it wrote.
    Raises BadInput for another format, LabError when `out` cannot be written.
    """
    if fmt == ALL:
        return [path for one in FORMATS for path in export(run, one, out / one, extra, on_progress)]
    if fmt not in (*FORMATS, FOLDER):
        raise BadInput("format", fmt, ", ".join((*FORMATS, FOLDER, ALL)), "What each is for: docs/exports.md")
    on_progress(Progress(stage=fmt, message="reading the run"))
    try:
        out.mkdir(parents=True, exist_ok=True)
        if writer := _WRITERS.get(fmt):
            return writer(run, out, on_progress)
        return write_tables(run, fmt, out, extra or {}, on_progress)
    except OSError as error:
        raise cannot_write(out, error) from error
