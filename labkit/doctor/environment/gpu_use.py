"""Is anything else on the GPUs: memory that is taken, and who holds it?"""

from __future__ import annotations

from labkit.doctor.facts import Facts
from labkit.doctor.node.records import GpuDevice
from labkit.doctor.records import Check, Status

_GIB = 1 << 30
_IDLE = 2 * _GIB
"""A GPU on which nothing runs has a little of its memory taken by the driver."""
_VLLMS_SHARE = 0.92
_SHOW = {"amd": "amd-smi process", "nvidia": "nvidia-smi"}


def in_use(facts: Facts) -> list[Check]:
    """What already holds memory on the GPUs of the profile's vendor."""
    vendor = facts.profile.machine.vendor
    ours = facts.node.of(vendor)
    if not ours:
        return []
    status = _judged(facts, ours)
    fault = status in ("warn", "fail")
    return [
        Check(
            name="GPUs in use",
            area="GPU node",
            status=status,
            found="the driver does not tell" if status == "unknown" else _words(facts, ours),
            why="vLLM refuses to start where less memory is free than its share of the GPU, and whatever else computes "
            "there shows in the times of an engine.",
            todo="End what runs there, or give the profile other GPUs." if fault else "",
            command=_SHOW[vendor] if fault else "",
        )
    ]


def _judged(facts: Facts, ours: tuple[GpuDevice, ...]) -> Status:
    """The lab's own engines are no fault: an arm that is up is used, and one that is not has its own check."""
    users = facts.node.users
    if all(gpu.vram_used is None for gpu in ours):
        return "unknown"
    if users and all(user.engine for user in users):
        return "ok"
    if any(_too_little(facts, gpu) for gpu in ours):
        return "fail"
    return "warn" if users or any(_taken(gpu) for gpu in ours) else "ok"


def _taken(gpu: GpuDevice) -> bool:
    return (gpu.vram_used or 0) > _IDLE


def _too_little(facts: Facts, gpu: GpuDevice) -> bool:
    """Less free than vLLM asks for when it starts: its share of the whole memory."""
    if not gpu.vram_total or not _taken(gpu):
        return False
    share = float(str(facts.profile.engine.flags.get("gpu-memory-utilization", _VLLMS_SHARE)))
    return gpu.vram_total - (gpu.vram_used or 0) < share * gpu.vram_total


def _words(facts: Facts, ours: tuple[GpuDevice, ...]) -> str:
    held = [f"GPU {n} {_gib(gpu.vram_used)} of {_gib(gpu.vram_total)} GiB" for n, gpu in enumerate(ours) if _taken(gpu)]
    who = [f"{user.engine or user.name} (pid {user.pid})" for user in facts.node.users[:3]]
    return "; ".join(
        [
            f"taken: {', '.join(held)}" if held else "their memory is free",
            *([f"held by {', '.join(who)}"] if who else []),
        ]
    )


def _gib(size: int | None) -> str:
    return f"{(size or 0) / _GIB:.0f}"
