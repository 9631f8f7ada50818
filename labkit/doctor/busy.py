"""Who keeps the cores busy: two looks at every process, a moment apart."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from labkit.doctor.facts import Busy, Load
from labkit.telemetry.cpu import MachineShare, Share, tree

_WORTH_CORES = 0.05


@dataclass(frozen=True)
class _Seen:
    name: str
    cpu_s: float


def load(window_s: float, engines: Mapping[int, str], shown: int = 3) -> Load:
    """What others than this process did for `window_s` seconds, and the `shown` busiest of them.

    `engines`: session of an engine's process to its id.
    """
    machine, ours = MachineShare(), Share()
    machine.percent()
    ours.cores(_own())
    before = _processes()
    time.sleep(window_s)
    after = _processes()
    percent, own = machine.percent(), ours.cores(_own())
    cores = None if percent is None or own is None else max(0.0, percent / 100 * (psutil.cpu_count() or 1) - own)
    busiest = sorted(_busy(before, after, window_s, engines), key=lambda each: -each.cores)[:shown]
    return Load(window_s=window_s, cores=cores, busiest=tuple(busiest))


def _own() -> dict[tuple[int, float], float]:
    """This process alone: what it started, an engine or a run, keeps the cores busy like anybody else."""
    return {key: seconds for key, seconds in tree(os.getpid()).cpu_s.items() if key[0] == os.getpid()}


def _processes() -> dict[tuple[int, float], _Seen]:
    """Every process but this one, by pid and start."""
    seen = {}
    for process in psutil.process_iter(["pid", "name", "create_time", "cpu_times"]):
        info = process.info
        if info["cpu_times"] is not None and info["pid"] != os.getpid():
            times = info["cpu_times"]
            seen[(info["pid"], info["create_time"])] = _Seen(info["name"] or "?", times.user + times.system)
    return seen


def _busy(
    before: Mapping[tuple[int, float], _Seen],
    after: Mapping[tuple[int, float], _Seen],
    window_s: float,
    engines: Mapping[int, str],
) -> list[Busy]:
    rates = {key: (now.cpu_s - before[key].cpu_s) / window_s for key, now in after.items() if key in before}
    return [
        Busy(name=after[key].name, pid=key[0], cores=rate, engine=engines.get(_session(key[0]), ""))
        for key, rate in rates.items()
        if rate >= _WORTH_CORES
    ]


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except (ProcessLookupError, PermissionError):
        return 0
