"""Is there memory for a plan? Asked before the start: an engine that the kernel kills says nothing useful."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import psutil

from labkit.core.errors import NotEnoughMemory
from labkit.engines.plan_records import Plan
from labkit.engines.registry import Engine

_GIB = 1 << 30
_CGROUP = Path("/sys/fs/cgroup")


def free_bytes(cgroup: Path = _CGROUP) -> int:
    """Memory that a new process can take without swapping: the machine's, or its container's if that is less."""
    free = int(psutil.virtual_memory().available)
    limit, used = _number(cgroup / "memory.max"), _number(cgroup / "memory.current")
    if limit is None or used is None:
        return free
    return min(free, max(0, limit - used + _reclaimable(cgroup)))


def total_bytes(cgroup: Path = _CGROUP) -> int:
    """Memory of the machine, or of its container if that is less."""
    total, limit = int(psutil.virtual_memory().total), _number(cgroup / "memory.max")
    return total if limit is None else min(total, limit)


def needed_bytes(plan: Plan) -> int:
    """Host memory that the processes of a plan take, together."""
    return sum(process.memory_bytes for process in plan.layout)


def require_memory(plan: Plan, free: int, engines: Sequence[Engine] = (), total: int | None = None) -> None:
    """Raises NotEnoughMemory with need and free memory when `free` bytes are too few for the plan.

    `engines`: those registered here, of which some may be ended; `total`: bytes of the machine, asked when None.
    """
    need = needed_bytes(plan)
    if need > free:
        there = total_bytes() if total is None else total
        raise NotEnoughMemory(
            f"profile {plan.profile} needs {need / _GIB:.1f} GiB, {free / _GIB:.1f} GiB are free",
            _what_helps(plan, need, there, [engine.id for engine in engines if engine.alive]),
        )


def _what_helps(plan: Plan, need: int, total: int, up: list[str]) -> str:
    """Ending an engine helps where one is up and the machine is large enough."""
    if need > total:
        here = f"This machine has {total / _GIB:.1f} GiB in all: take a larger one or a smaller profile"
    elif up:
        return f"End engines that are not needed: labkit down ENGINE; up: {', '.join(up)}."
    else:
        here = "No engine is up that could be ended: end other programs, or take a smaller profile"
    return (
        f"{here} (labkit plan --profiles). What an engine needs is the profile's figure, `memory_gib` under [engine]."
    )


def _reclaimable(cgroup: Path) -> int:
    """Page cache counts as used by a control group but is given up on demand."""
    try:
        lines = (cgroup / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(("inactive_file ", "active_file ")))


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # no such group, or "max"
        return None
