"""How much of the machine others took while an arm was measured: time that no layer of the arm is to blame for."""

from __future__ import annotations

import os
from collections.abc import Iterable

import psutil

from labkit.telemetry.cpu import MachineShare, Share, tree

MANY_CORES = 0.25
"""From here on, times are worth a warning."""


class Bystanders:
    """Measures from its making on. `pids`: the engine's processes; this process and its children count as ours, too."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = (os.getpid(), *pids)
        self._machine, self._ours = MachineShare(), Share()
        self._machine.percent()
        self._ours.cores(self._used())

    def cores(self) -> float | None:
        """Cores that everybody else kept busy since the last call, on average; None when it cannot be told."""
        percent, ours = self._machine.percent(), self._ours.cores(self._used())
        if percent is None or ours is None:
            return None
        return max(0.0, percent / 100 * (psutil.cpu_count() or 1) - ours)

    def _used(self) -> dict[tuple[int, float], float]:
        return {key: seconds for pid in self._pids for key, seconds in tree(pid).cpu_s.items()}
