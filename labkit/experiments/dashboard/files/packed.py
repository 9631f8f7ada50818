"""Every format of every run in one file. At most one format lies on disk unpacked, and nothing is held in memory."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from labkit.core.progress import OnProgress, Progress
from labkit.experiments.dashboard.files.downloads import REPORT
from labkit.experiments.exported import tables_of
from labkit.experiments.report import write_report
from labkit.store.exports import export
from labkit.store.exports.folder import STORED
from labkit.store.runs import Run


def pack(runs: Sequence[Run], formats: Sequence[str], folder: Path, on_progress: OnProgress) -> Path:
    """Every format of every run, below `folder`: the file itself where it is one, else a .zip. Raises LabError."""
    whole = len(runs) * len(formats)
    jobs = enumerate((run, name, fmt) for run, name in zip(runs, _names(runs), strict=True) for fmt in formats)
    made: Iterator[_Made] = (
        _Made(run, name, fmt, _files(run, fmt, folder / "made", _counted(on_progress, number, whole)))
        for number, (run, name, fmt) in jobs
    )
    if whole == 1:
        only = next(made)
        if len(only.files) == 1:
            return only.files[0].rename(folder / _name(only))
        made = iter([only])
    return _zipped(made, folder / f"{_called(runs, formats)}.zip", folder / "made")


class _Made(NamedTuple):
    run: Run
    name: str
    fmt: str
    files: list[Path]


def _files(run: Run, fmt: str, out: Path, on_progress: OnProgress) -> list[Path]:
    on_progress(Progress(stage=fmt, message="reading the run"))
    if fmt == REPORT:
        on_progress(Progress(stage=fmt, message="writing it; a long run takes up to a minute"))
        out.mkdir(parents=True, exist_ok=True)
        return [write_report(run, out / f"{run.id}.html")]
    extra = tables_of(run) if fmt in ("csv", "parquet", "json") else None
    return export(run, fmt, out, extra, on_progress)


def _names(runs: Sequence[Run]) -> list[str]:
    """Their folders' names, each once: a copy of a run has the same id, and a copy from elsewhere the same folder."""
    names = list[str]()
    for run in runs:
        name, number = run.folder.name, 1
        while name in names:
            number += 1
            name = f"{run.folder.name} ({number})"
        names.append(name)
    return names


def _zipped(made: Iterator[_Made], path: Path, out: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for _, name, fmt, files in made:
            for file in files:
                packed = zipfile.ZIP_STORED if file.suffix in STORED else zipfile.ZIP_DEFLATED
                archive.write(file, f"{name}/{fmt}/{file.relative_to(out)}", packed)
            shutil.rmtree(out)
    return path


def _counted(on_progress: OnProgress, number: int, whole: int) -> OnProgress:
    """Progress of one format as a share of all of them."""

    def said(progress: Progress) -> None:
        within = progress.done / progress.total if progress.done is not None and progress.total else 0.0
        on_progress(Progress(stage=progress.stage, message=progress.message, done=number + within, total=whole))

    return said


def _name(made: _Made) -> str:
    file = made.files[0]
    return file.name if file.name.startswith(made.run.id) else f"{made.run.id}-{made.fmt}{file.suffix}"


def _called(runs: Sequence[Run], formats: Sequence[str]) -> str:
    what = formats[0] if len(formats) == 1 else "export"
    return f"{runs[0].id}-{what}" if len(runs) == 1 else f"labkit-{len(runs)}-runs-{what}"
