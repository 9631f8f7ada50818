"""One download, packed in a thread of its own while the page goes on: a file on disk, removed when nobody wants it."""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path

from labkit.core.errors import LabError
from labkit.core.progress import Progress
from labkit.experiments.dashboard.files.packed import pack
from labkit.store.runs import RunStore

MIMES = {".zip": "application/zip", ".json": "application/json", ".html": "text/html", ".jsonl": "application/jsonl"}


MOST_BYTES = 200_000_000
"""A download passes through the server's memory as a whole; what is larger is taken from its place on disk."""


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
    def too_large(self) -> bool:
        """Whether it is too large to go through a browser."""
        return self.size > MOST_BYTES

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
