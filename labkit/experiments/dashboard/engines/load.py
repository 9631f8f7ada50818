"""What each process of an engine takes: cores since the last look, and resident memory. Shared by all tabs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock

from labkit.engines.process import ProcessState
from labkit.telemetry.cpu import Share, tree

_WINDOW_S = 1.0
"""Two tabs that look at once get the same reading: a share of a tenth of a second says nothing."""


@dataclass(frozen=True, kw_only=True)
class ProcessLoad:
    """`cores`: kept busy since the look before, None at the first; `rss`: bytes, None when the process is gone."""

    cores: float | None
    rss: int | None


NOTHING = ProcessLoad(cores=None, rss=None)


class Loads:
    """Remembers each process's CPU time from one look to the next. Safe to share between threads."""

    def __init__(self) -> None:
        self._shares: dict[tuple[int, float], Share] = {}
        self._known: dict[tuple[int, float], ProcessLoad] = {}
        self._at = float("-inf")
        self._lock = Lock()

    def read(self, processes: Iterable[ProcessState]) -> dict[int, ProcessLoad]:
        """Loads by pid, of the process and its children; read anew when the last look is a second old."""
        wanted = {(process.pid, process.created) for process in processes}
        with self._lock:
            if time.monotonic() - self._at >= _WINDOW_S or not wanted <= set(self._known):
                self._known = {key: self._read(key) for key in wanted}
                self._shares = {key: share for key, share in self._shares.items() if key in wanted}
                self._at = time.monotonic()
            return {key[0]: self._known[key] for key in wanted}

    def _read(self, key: tuple[int, float]) -> ProcessLoad:
        now = tree(key[0])
        if not _same(key, now.cpu_s):
            return NOTHING
        return ProcessLoad(cores=self._shares.setdefault(key, Share()).cores(now.cpu_s), rss=now.rss)


def _same(key: tuple[int, float], seen: Iterable[tuple[int, float]]) -> bool:
    """Whether the tree is that process's: its start, as it was noted, is a clock tick from what is read at most."""
    return any(pid == key[0] and abs(created - key[1]) < 0.05 for pid, created in seen)
