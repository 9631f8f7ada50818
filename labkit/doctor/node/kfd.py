"""amdgpu's compute side (KFD): what it offers for computing, and which processes hold its memory.

A node of its topology with SIMDs is a GPU, or one partition of it: HIP counts these. `gfx_target_version` is
major * 10000 + minor * 100 + stepping: 90402 is gfx942. A process that has opened /dev/kfd has a folder under `proc`,
with `vram_<gpu id>` in bytes.
"""

from __future__ import annotations

from pathlib import Path

from labkit.doctor.node.records import GpuUser
from labkit.doctor.node.roots import Roots, number, text

_KFD = Path("class/kfd/kfd")


def computing(roots: Roots) -> tuple[str, ...]:
    """The gfx name of each GPU or partition that programs can compute on."""
    nodes = sorted((roots.sys / _KFD / "topology" / "nodes").glob("*"), key=lambda folder: folder.name.zfill(4))
    found = (_properties(folder) for folder in nodes)
    return tuple(_gfx(int(each.get("gfx_target_version", "0"))) for each in found if each.get("simd_count", "0") != "0")


def _properties(folder: Path) -> dict[str, str]:
    """Of a device that this control group may not use the kernel tells nothing."""
    words = (line.split() for line in (text(folder / "properties") or "").splitlines())
    return {pair[0]: pair[1] for pair in words if len(pair) == 2 and pair[1].isdecimal()}


def _gfx(version: int) -> str:
    return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"


def users(roots: Roots) -> tuple[GpuUser, ...]:
    """Processes with memory on AMD GPUs, most first."""
    folders = (roots.sys / _KFD / "proc").glob("[0-9]*")
    found = [_user(roots, folder) for folder in folders]
    return tuple(sorted((user for user in found if user.vram), key=lambda user: -(user.vram or 0)))


def _user(roots: Roots, folder: Path) -> GpuUser:
    pid = int(folder.name)
    held = [number(file) or 0 for file in folder.glob("vram_*")]
    return GpuUser(pid=pid, name=text(roots.proc / folder.name / "comm") or "?", vram=sum(held))
