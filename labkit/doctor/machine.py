"""Facts of the machine that no other room reads: quotas, governors, clock, shared memory, libraries, GPUs."""

from __future__ import annotations

import ctypes
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from labkit.doctor.facts import ClockFacts, Gpus
from labkit.telemetry import amd, nvidia
from labkit.telemetry.devices import Unreadable
from labkit.telemetry.gpus.source import GpuSource

_CGROUP = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")
_CPUS = Path("/sys/devices/system/cpu")
_CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
_TOKEN_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")


def quota(root: Path = _CGROUP, own: Path = _OWN_GROUP) -> float | None:
    """Cores that the control groups above this process allow (the smallest); None where none caps them."""
    groups = [root, *_groups(root, _text(own) or "")]
    caps = [cap for group in groups for cap in (_cap_v2(group), _cap_v1(group)) if cap is not None]
    return min(caps, default=None)


def _groups(root: Path, lines: str) -> list[Path]:
    """The folders of the process's groups, and of every group above them."""
    folders: list[Path] = []
    for line in lines.splitlines():
        _, controllers, path = line.split(":", 2)
        base = root if not controllers else root / "cpu"
        if controllers and "cpu" not in controllers.split(","):
            continue
        parts = [part for part in path.split("/") if part]
        folders += [base.joinpath(*parts[:n]) for n in range(len(parts) + 1)]
    return folders


def _cap_v2(group: Path) -> float | None:
    words = (_text(group / "cpu.max") or "").split()
    return int(words[0]) / int(words[1]) if len(words) == 2 and words[0] != "max" else None


def _cap_v1(group: Path) -> float | None:
    allowed, period = (_text(group / f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    return int(allowed) / int(period) if allowed and period and int(allowed) > 0 else None


def governors(usable: Sequence[int], root: Path = _CPUS) -> tuple[str, ...] | None:
    """The distinct governors of these CPUs; None where the system does not tell."""
    said = {_text(root / f"cpu{n}" / "cpufreq" / "scaling_governor") for n in usable} - {None}
    return tuple(sorted(name for name in said if name)) or None


def clock_facts(source: Path = _CLOCK) -> ClockFacts:
    """The monotonic clock, and the smallest of a thousand steps that it made."""
    info = time.get_clock_info("monotonic")
    return ClockFacts(
        monotonic=info.monotonic, resolution_s=info.resolution, step_s=min(_steps()), source=_text(source)
    )


def _steps() -> list[float]:
    """A thousand steps of the clock, seconds."""
    steps = []
    for _ in range(1000):
        before = now = time.monotonic()
        while now == before:
            now = time.monotonic()
        steps.append(now - before)
    return steps


def shm_free(folder: Path = Path("/dev/shm")) -> int | None:
    """Free bytes of shared memory; None where there is none."""
    return disk_free(folder) if folder.is_dir() else None


def disk_free(folder: Path) -> int | None:
    """Free bytes on the disk that `folder` is on, or will be; None when it cannot be read."""
    there = next((path for path in (folder, *folder.parents) if path.exists()), None)
    try:
        return shutil.disk_usage(there).free if there else None
    except OSError:
        return None


def loads(library: str) -> bool:
    """Whether the system's loader finds a shared library."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def gpus() -> Gpus:
    """What amdsmi and NVML see, and why one sees nothing."""
    seen, unread = {}, {}
    silent: dict[str, str] = {}
    modes: dict[str, tuple[str | None, str | None]] = {}
    makers: dict[str, Callable[[], GpuSource]] = {amd.NAME: amd.amd_source, nvidia.NAME: nvidia.nvidia_source}
    for library, make in makers.items():
        try:
            source = make()
        except Unreadable as error:
            unread[library] = str(error)
            continue
        seen[library] = source.devices
        silent |= {**dict.fromkeys(source.unread, "no energy and no power"), **source.failed}
        told = [gpu.facts for gpu in source.gpus]
        modes |= {gpu.bdf: (gpu.compute_partition, gpu.memory_partition) for gpu in told if gpu.bdf}
        source.close()
    return Gpus(seen=seen, unread=unread, silent=silent, modes=modes)


def has_hub_token() -> bool:
    """Whether a token of the Hugging Face hub is set, by variable or by file. It is not read."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    return any(os.environ.get(name) for name in _TOKEN_VARIABLES) or (home / "token").is_file()


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return None
