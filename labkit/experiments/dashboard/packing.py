"""One download, packed in a thread of its own while the page goes on: a file on disk, removed when nobody wants it.

At most one format lies on disk unpacked, and nothing is held in memory but what its writer needs.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from labkit.core.errors import LabError
from labkit.core.progress import OnProgress, Progress
from labkit.experiments.dashboard.downloads import REPORT
from labkit.experiments.exported import tables_of
from labkit.experiments.report import write_report
from labkit.store.exports import export
from labkit.store.exports.folder import STORED
from labkit.store.runs import Run, RunStore

MIMES = {".zip": "application/zip", ".json": "application/json", ".html": "text/html", ".jsonl": "application/jsonl"}


class _GivenUp(Exception):
    """Raised within a writer, through its progress."""


class Packing:
    """The making of a download; begins at once. Safe to look at from any thread."""

    def __init__(self, names: Sequence[str], formats: Sequence[str]) -> None:
        """`names`: what opens the runs; `formats`: names of `downloads.OFFERS`. One of each at least."""
        self._folder: Path | None = None
        self._given_up = False
        self.progress = Progress(stage="export", message="opening the run")
        self.file: Path | None = None
        self.error = ""
        self._thread = threading.Thread(target=self._work, args=(tuple(names), tuple(formats)), daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether there is a file, or an error that says why not."""
        return self.file is not None or bool(self.error)

    def wait(self, seconds: float) -> bool:
        """Wait until it is done, at most so long; whether it is."""
        self._thread.join(seconds)
        return self.done

    def read(self) -> bytes:
        """The file. Raises LabError when there is none, or no longer."""
        if self.file is None:
            raise LabError(self.error or "The export is not ready yet.", "Wait until it is.")
        try:
            return self.file.read_bytes()
        except OSError as error:
            raise LabError("The export was removed meanwhile.", "Prepare it again.") from error

    @property
    def size(self) -> int:
        """Bytes of the file; 0 while there is none."""
        return self.file.stat().st_size if self.file else 0

    @property
    def mime(self) -> str:
        return MIMES.get(self.file.suffix, "application/octet-stream") if self.file else ""

    def close(self) -> None:
        """Give it up, if it still goes on, and remove what was made."""
        self._given_up = True
        self.file = None
        if not self._thread.is_alive():
            self._remove()

    def _work(self, names: tuple[str, ...], formats: tuple[str, ...]) -> None:
        try:
            folder, store = self._made_folder(), RunStore()
            self.file = pack([store.open(name) for name in names], formats, folder, self._said)
        except _GivenUp:
            pass
        except LabError as error:
            self.error = str(error)
        except Exception as error:  # noqa: BLE001  the thread's edge: the page shows it, nobody else could
            self.error = f"The export failed: {type(error).__name__}: {error}"
        finally:
            if self._given_up:
                self.file = None
                self._remove()

    def _made_folder(self) -> Path:
        """Removed at the latest when this object is, or when the process ends in good order."""
        self._folder = folder = Path(tempfile.mkdtemp(prefix="labkit-export-"))
        weakref.finalize(self, shutil.rmtree, folder, True)
        return folder

    def _remove(self) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _said(self, progress: Progress) -> None:
        if self._given_up:
            raise _GivenUp
        self.progress = progress


def pack(runs: Sequence[Run], formats: Sequence[str], folder: Path, on_progress: OnProgress) -> Path:
    """Every format of every run, below `folder`: the file itself where it is one, else a .zip. Raises LabError."""
    whole = len(runs) * len(formats)
    jobs = enumerate((run, fmt) for run in runs for fmt in formats)
    made: Iterator[_Made] = (
        _made(run, fmt, folder / "made", _counted(on_progress, number, whole)) for number, (run, fmt) in jobs
    )
    if whole == 1:
        only = next(made)
        if len(only.files) == 1:
            return only.files[0].rename(folder / _name(only))
        made = iter([only])
    return _zipped(made, folder / f"{_called(runs, formats)}.zip", folder / "made")


class _Made(NamedTuple):
    run: Run
    fmt: str
    files: list[Path]


def _made(run: Run, fmt: str, out: Path, on_progress: OnProgress) -> _Made:
    on_progress(Progress(stage=fmt, message="reading the run"))
    if fmt == REPORT:
        on_progress(Progress(stage=fmt, message="writing it; a long run takes up to a minute"))
        out.mkdir(parents=True, exist_ok=True)
        return _Made(run, fmt, [write_report(run, out / f"{run.id}.html")])
    extra = tables_of(run) if fmt in ("csv", "parquet", "json") else None
    return _Made(run, fmt, export(run, fmt, out, extra, on_progress))


def _zipped(made: Iterator[_Made], path: Path, out: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for run, fmt, files in made:
            for file in files:
                packed = zipfile.ZIP_STORED if file.suffix in STORED else zipfile.ZIP_DEFLATED
                archive.write(file, f"{run.id}/{fmt}/{file.relative_to(out)}", packed)
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
