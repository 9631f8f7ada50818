"""The driver's versions, files under /dev, limits, network devices and variables of a GPU node."""

from __future__ import annotations

import grp
import os
import resource
from collections.abc import Mapping
from pathlib import Path

from labkit.doctor.node.kfd import computing
from labkit.doctor.node.records import DeviceFile, Driver, Limits
from labkit.doctor.node.roots import Roots, text

VISIBLE = ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")
"""Variables that choose and renumber GPUs for the programs of a shell."""
_ACTIVE = "4: ACTIVE"


def driver(roots: Roots, nvidia: str | None, cuda: str | None) -> Driver:
    """Versions of the drivers that are loaded, and what AMD's offers. `nvidia`, `cuda`: as NVML tells them."""
    module = roots.sys / "module" / "amdgpu"
    said = text(roots.rocm / ".info" / "version")
    return Driver(
        amdgpu=(text(module / "version") or "") if module.is_dir() else None,
        kfd=(roots.dev / "kfd").exists(),
        computing=computing(roots),
        rocm=said.split("-")[0] if said else None,
        nvidia=nvidia,
        cuda=cuda,
    )


def device_files(roots: Roots) -> tuple[DeviceFile, ...]:
    """/dev/kfd and the render nodes, and NVIDIA's, as far as they are there."""
    files = [roots.dev / "kfd", *sorted((roots.dev / "dri").glob("renderD*")), *sorted(roots.dev.glob("nvidia[0-9]*"))]
    return tuple(_file(path) for path in files if path.exists())


def _file(path: Path) -> DeviceFile:
    gid = path.stat().st_gid
    try:
        group = grp.getgrgid(gid).gr_name
    except KeyError:  # in a container the host's groups have numbers alone
        group = str(gid)
    return DeviceFile(path=str(path), usable=os.access(path, os.R_OK | os.W_OK), group=group)


def limits() -> Limits:
    """Those of this process."""
    locked, files = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0], resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    unlimited = resource.RLIM_INFINITY
    return Limits(memlock=-1 if locked == unlimited else locked, files=1 << 30 if files == unlimited else files)


def rdma(roots: Roots) -> tuple[tuple[str, bool], ...]:
    """RDMA devices by name, and whether one of their ports is active."""
    devices = sorted((roots.sys / "class" / "infiniband").glob("*"))
    return tuple((each.name, any(text(port) == _ACTIVE for port in each.glob("ports/*/state"))) for each in devices)


def visible(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that choose GPUs here. An empty one is as good as none, as vLLM takes it."""
    return {name: environ[name] for name in VISIBLE if environ.get(name)}
