"""All runs of one folder: make one, list them, open one.

store = RunStore()
with store.create("quick", asked={"task": "count"}, fingerprint=host_fingerprint()) as run:
    run.step(StepRecord(run=run.id, ...), chunks)
store.open(run.id).steps()
"""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import BadInput, LabError, RunUnreadable, UnknownName
from labkit.core.names import unknown
from labkit.core.paths import runs_dir
from labkit.core.records import RunInfo
from labkit.store.examples import example_named
from labkit.store.jsonl import cannot_write
from labkit.store.layout import LOGS, RUN
from labkit.store.masking import without_secrets
from labkit.store.reader import Run
from labkit.store.reopening import reopened
from labkit.store.writer import RunWriter

__all__ = ["Run", "RunStore", "RunWriter"]

_EXPERIMENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_ZIP_LIMIT = 8 * 2**30


class RunStore:
    """A folder of run folders. `root`: default is `labkit.core.paths.runs_dir()`; made when first written to."""

    def __init__(self, root: Path | None = None, clock: Clock | None = None) -> None:
        self.root = (root or runs_dir()).resolve()
        self._clock = clock or SystemClock()

    def create(self, experiment: str, asked: dict[str, Any], fingerprint: dict[str, Any]) -> RunWriter:
        """A new run, started now. The folder appears whole: nobody sees one without `run.json`.

        Secrets in `asked` and `fingerprint` are masked. Raises BadInput for an experiment's name that cannot be part of
        a folder's, LabError for an unwritable root.
        """
        if not _EXPERIMENT.fullmatch(experiment):
            raise BadInput("experiment", experiment, "1 to 40 of a-z 0-9 _ -, starting with a letter or digit")
        wall, t0 = self._clock.wall(), self._clock.now()
        run_id = f"{wall:%Y%m%dT%H%M%SZ}-{experiment}-{secrets.token_hex(3)}"
        info = RunInfo(
            id=run_id,
            experiment=experiment,
            created=wall.isoformat(timespec="microseconds"),
            state="running",
            asked=without_secrets(asked),
            fingerprint=without_secrets(fingerprint),
        )
        return self._started(info, t0)

    def resume(self, run: Run, **about: Any) -> RunWriter:
        """Go on with a run that has ended: same folder, same id, and a clock that counts the break.

        `about` goes into its `resume` event. Raises LabError while somebody writes it.
        """
        return reopened(run, self._clock, about)

    def _started(self, info: RunInfo, t0: float) -> RunWriter:
        draft, folder = self.root / f".{info.id}", self.root / info.id
        try:
            (draft / LOGS).mkdir(parents=True)
            writer = RunWriter(draft, info, self._clock, t0)
            writer.start()
            writer.moved_to(draft.rename(folder))
        except OSError as error:
            shutil.rmtree(draft, ignore_errors=True)
            raise cannot_write(self.root, error) from error
        return writer

    def folders(self) -> Sequence[Path]:
        """The run folders, by name backwards: newest first, to the second. Raises LabError when the root is a file."""
        if self.root.is_file():
            raise LabError(f"{self.root} is a file; runs are kept in a folder.", "Set LABKIT_RUNS to a folder.")
        if not self.root.is_dir():
            return []
        found = (p for p in self.root.iterdir() if not p.name.startswith(".") and (p / RUN).is_file())
        return sorted(found, reverse=True)

    def runs(self) -> Sequence[Run]:
        """Every run that opens, newest first."""
        opened = [run for folder in self.folders() if isinstance(run := _try_open(folder), Run)]
        return sorted(opened, key=lambda run: run.created, reverse=True)

    def list(self) -> Sequence[RunInfo]:
        """What every run that opens says about itself, newest first."""
        return [run.info for run in self.runs()]

    def unreadable(self) -> dict[Path, RunUnreadable]:
        """The folders that do not open, and why."""
        opened = {folder: _try_open(folder) for folder in self.folders()}
        return {folder: error for folder, error in opened.items() if isinstance(error, RunUnreadable)}

    def open(self, name: str | Path) -> Run:
        """A run by id, by the start or the last part of its id, by `latest`, or by the path of a folder or .zip.

        An example that came with the project, too: by its id, or by `example`.

        Raises UnknownName with the nearest ids, BadInput when several match, RunUnreadable when it does not open.
        """
        path = Path(name).expanduser()
        if path.suffix == ".zip" and path.is_file():
            return _open_zip(path)
        if path.is_dir() and (isinstance(name, Path) or (path / RUN).is_file()):
            return Run(path.resolve())
        if not self.has(str(name)) and (zipped := example_named(str(name))):
            return _open_zip(zipped)
        try:
            return Run(self.folder_of(str(name)))
        except UnknownName:
            if not name or not path.is_dir():
                raise
            raise RunUnreadable(f"{name} is no run folder: it has no {RUN}", "List runs with: labkit runs") from None

    def has(self, name: str) -> bool:
        """Whether there is a run folder of just this name; no other folder is looked at."""
        return name == Path(name).name and not name.startswith(".") and (self.root / name / RUN).is_file()

    def folder_of(self, name: str) -> Path:
        """The folder of a run by id, by the start or the last part of its id, or by `latest`; it may not open.

        Raises UnknownName with the nearest ids, BadInput when several match.
        """
        return self.root / self._id_of(name)

    def _id_of(self, name: str) -> str:
        if self.has(name):
            return name
        if name == "latest" and (runs := self.runs()):
            return runs[0].folder.name
        ids = [folder.name for folder in self.folders()]
        matches = [i for i in ids if i == name] or [i for i in ids if name and _means(name, i)]
        if len(matches) > 1:
            raise BadInput("run", name, ", ".join(matches[:5]), "Several runs match: give more of the id.")
        if not matches:
            raise unknown("run", name, ids, "labkit runs")
        return matches[0]


def _means(name: str, run_id: str) -> bool:
    return run_id.startswith(name) or run_id.rsplit("-", 1)[-1].startswith(name)


def _try_open(folder: Path) -> Run | RunUnreadable:
    try:
        return Run(folder)
    except RunUnreadable as error:
        return error


def _open_zip(path: Path) -> Run:
    """The run inside a zipped folder, unpacked to a temporary folder that goes when the Run does."""
    temporary = tempfile.TemporaryDirectory(prefix="labkit-run-")
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _ZIP_LIMIT:
                raise RunUnreadable(f"{path} unpacks to more than {_ZIP_LIMIT >> 30} GiB", "Unpack it by hand.")
            archive.extractall(temporary.name)
    except (OSError, zipfile.BadZipFile) as error:
        raise RunUnreadable(f"{path} cannot be unpacked: {error}") from error
    inside = sorted(Path(temporary.name).rglob(RUN))
    if len(inside) != 1:
        raise RunUnreadable(f"{path} holds {len(inside)} runs; one was expected", "Zip one run folder.")
    return Run(inside[0].parent, keep=temporary)
