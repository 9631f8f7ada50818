"""Is there room for what the lab and its engines write?"""

from __future__ import annotations

from labkit.doctor.facts import Disk, Facts
from labkit.doctor.records import Check, Status

GIB = 1 << 30
_COMFORT = 2 * GIB
"""Below this a disk is nearly full: a day of runs, or the logs of an engine that complains, may fill it."""
_SHM_SPLIT, _SHM_PARALLEL = 256 << 20, GIB
"""What a split on one machine, and an engine over several GPUs, should find free in /dev/shm."""


def disks(facts: Facts) -> list[Check]:
    """The disks of runs, models and state."""
    return [_disk(disk) for disk in facts.disks]


def _disk(disk: Disk) -> Check:
    free = disk.free
    status: Status = "unknown" if free is None else "fail" if free < disk.needs else "warn" if free < _COMFORT else "ok"
    amount = "cannot be read" if free is None else f"{free / GIB:.1f} GiB free"
    return Check(
        name=f"Disk of {disk.what}",
        area="environment",
        status=status,
        found=f"{amount} in {disk.path}" + (f"; {disk.needs / GIB:.1f} GiB are needed" if status == "fail" else ""),
        why="A run is written as it happens: a full disk ends it, and what was measured until then is kept.",
        todo="" if status in ("ok", "unknown") else "Free some space, or keep it on another disk.",
        command="" if status in ("ok", "unknown") else f"export {disk.variable}=/another/disk",
    )


def shared_memory(facts: Facts) -> Check:
    """/dev/shm, through which processes of one engine talk."""
    free = facts.shm_free
    needed = _SHM_PARALLEL if facts.profile.engine.gpus else _SHM_SPLIT
    status: Status = "unknown" if free is None else "ok" if free >= needed else "warn"
    return Check(
        name="/dev/shm",
        area="environment",
        status=status,
        found="there is none to read" if free is None else f"{_size(free)} free; {_size(needed)} are wanted",
        why="The processes of one engine pass data through it, and so do KV transfers on one machine. Containers get "
        "64 MiB unless they are told otherwise.",
        todo="Start the container with more." if status == "warn" else "",
        command="docker run --shm-size=8g ..." if status == "warn" else "",
    )


def _size(n: int) -> str:
    return f"{n / GIB:.1f} GiB" if n >= GIB else f"{n >> 20} MiB"
