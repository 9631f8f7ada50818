"""What a store holds, asked for again and again: a folder is read when it has changed, else remembered.

A page lists the runs on every look. Of a thousand folders, that is a thousand `stat`s and no file opened.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from labkit.core.errors import RunUnreadable
from labkit.core.records import RunInfo
from labkit.store.examples import example_named, examples, info_in
from labkit.store.layout import EVENTS, RUN, Owner
from labkit.store.runs import Run, RunStore

Stamp = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """A run in a list. `name`: what opens it, its folder's name, so that a copy differs from what it is a copy of.

    `version`: bytes of events, as `Run.version`; `writer`: who writes or wrote it. `example`: it came with the project.
    """

    name: str
    info: RunInfo
    version: int
    writer: Owner | None = None
    example: bool = False

    @property
    def copy(self) -> bool:
        """Whether the folder was given another name than the run's."""
        return self.name != self.info.id

    @property
    def live(self) -> bool:
        return self.info.state == "running"


class Listing:
    """The runs of a store and the examples, remembered; safe among threads."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        self._known: dict[Path, tuple[Stamp, Seen | RunUnreadable]] = {}
        self._lock = threading.Lock()

    def newest(self) -> list[Seen]:
        """Every run that opens, newest first; without the examples. Raises LabError when the root is a file."""
        found = [seen for folder in self.store.folders() if isinstance(seen := self._seen(folder), Seen)]
        return sorted(found, key=lambda seen: (seen.info.created, seen.name), reverse=True)

    def broken(self) -> dict[str, RunUnreadable]:
        """Names of the folders that do not open, and why."""
        found = {folder.name: self._seen(folder) for folder in self.store.folders()}
        return {name: seen for name, seen in found.items() if isinstance(seen, RunUnreadable)}

    def examples(self) -> list[Seen]:
        """The runs that came with the project, but for those that somebody unpacked into the store."""
        found = [self._seen(path) for name, path in examples().items() if not self.store.has(name)]
        return [seen for seen in found if isinstance(seen, Seen)]

    def one(self, name: str) -> Seen:
        """The run of this name, or of this short end of an id. Raises UnknownName, BadInput and RunUnreadable."""
        path = self._path(name)
        seen = self._seen(path)
        if isinstance(seen, RunUnreadable):
            raise seen
        return seen

    def _path(self, name: str) -> Path:
        if not self.store.has(name) and (zipped := example_named(name)):
            return zipped
        return self.store.folder_of(name)

    def _seen(self, path: Path) -> Seen | RunUnreadable:
        try:
            stamp = _stamp(path)
        except OSError:  # it went between the listing and now
            return RunUnreadable(f"{path} is gone", "List runs with: labkit runs")
        with self._lock:
            known = self._known.get(path)
        if known and known[0] == stamp and not (isinstance(known[1], Seen) and _has_died(known[1])):
            return known[1]
        seen = _read(path)
        with self._lock:
            self._known[path] = (stamp, seen)
        return seen


def _stamp(path: Path) -> Stamp:
    """What changes when the run does. `run.json` is replaced whole; of the events, their number of bytes."""
    if path.suffix == ".zip":
        return (path.stat().st_mtime_ns,)
    about, events = (path / RUN).stat(), (path / EVENTS).stat()
    return about.st_mtime_ns, about.st_size, events.st_size


def _has_died(seen: Seen) -> bool:
    """Whether the run's writer ended without a word: nothing in the folder changes then."""
    return seen.live and not (seen.writer and seen.writer.alive())


def _read(path: Path) -> Seen | RunUnreadable:
    try:
        if path.suffix == ".zip":
            return Seen(name=path.stem, info=info_in(path), version=path.stat().st_size, example=True)
        run = Run(path)
        return Seen(name=path.name, info=run.info, version=run.version, writer=run.writer)
    except RunUnreadable as error:
        return error
