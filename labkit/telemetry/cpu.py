"""CPU time of process trees and of the machine as shares of the time between two readings.

Own differences instead of psutil's `cpu_percent`: that keeps its last reading per process object (for the machine: per
module), so two readers would spoil each other, and its first answer is a 0.0 that nobody measured.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Tree:
    """A process and its descendants. `cpu_s`: CPU seconds so far by (pid, creation time); `rss`: bytes, None if gone.

    Pages that are shared within the tree count once for each process that has them.
    """

    cpu_s: dict[tuple[int, float], float]
    rss: int | None


def tree(pid: int) -> Tree:
    """The tree under `pid` now; empty when there is no such process."""
    cpu_s: dict[tuple[int, float], float] = {}
    rss = 0
    for process in _family(pid):
        try:
            with process.oneshot():
                times = process.cpu_times()
                cpu_s[(process.pid, process.create_time())] = times.user + times.system
                rss += process.memory_info().rss
        except psutil.Error:  # it ended while we looked
            continue
    return Tree(cpu_s, rss if cpu_s else None)


def _family(pid: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


class Share:
    """Turns growing CPU seconds into cores used since the last call; None at the first one and for a tree that is gone.

    A process that is new since then counts with all its time; one that ended is left out.
    """

    def __init__(self) -> None:
        self._last: dict[tuple[int, float], float] | None = None
        self._at = 0.0

    def cores(self, cpu_s: dict[tuple[int, float], float]) -> float | None:
        now, last, before = time.monotonic(), self._last, self._at
        self._last, self._at = cpu_s, now
        if last is None or not cpu_s or now <= before:
            return None
        return sum(value - last.get(key, 0.0) for key, value in cpu_s.items()) / (now - before)


class MachineShare:
    """Busy share of all cores since the last call, 0 to 100; None at the first one. Waiting for I/O is not busy."""

    def __init__(self) -> None:
        self._last: tuple[float, float] | None = None

    def percent(self) -> float | None:
        times: dict[str, float] = psutil.cpu_times()._asdict()
        # Linux counts guest time in user time as well.
        total = sum(value for name, value in times.items() if not name.startswith("guest"))
        busy = total - times["idle"] - times.get("iowait", 0.0)
        last, self._last = self._last, (busy, total)
        if last is None or total <= last[1]:
            return None
        # The kernel counts in ticks, each column by itself: a difference of sums may miss 0 or 100 by a rounding.
        return min(100.0, max(0.0, 100 * (busy - last[0]) / (total - last[1])))
