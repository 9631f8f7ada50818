"""What a GPU node is found to be, as plain records. None: it cannot be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Vendor = Literal["amd", "nvidia"]


@dataclass(frozen=True, kw_only=True)
class GpuDevice:
    """One GPU on the PCI bus. `device_id`: `0x74a1`; `bdf`: its address; `compute`, `memory`: partition modes (`SPX`,
    `NPS1`); `vram_total`, `vram_used`: bytes."""

    vendor: Vendor
    device_id: str
    bdf: str
    name: str | None = None
    compute: str | None = None
    memory: str | None = None
    vram_total: int | None = None
    vram_used: int | None = None


@dataclass(frozen=True, kw_only=True)
class GpuUser:
    """A process that holds GPU memory (bytes; None: not told). `name`: `?` where it is another container's."""

    pid: int
    name: str
    vram: int | None = None
    engine: str = ""


@dataclass(frozen=True, kw_only=True)
class Driver:
    """The kernel's side. `amdgpu`: version of the module, empty when it is the kernel's own; `rocm`: of /opt/rocm.

    `computing`: GPUs that the driver offers for computing, as gfx names, one a partition. `cuda`: the newest CUDA that
    the NVIDIA driver serves.
    """

    amdgpu: str | None = None
    kfd: bool = False
    computing: tuple[str, ...] = ()
    rocm: str | None = None
    nvidia: str | None = None
    cuda: str | None = None


@dataclass(frozen=True, kw_only=True)
class DeviceFile:
    """A file under /dev that an engine opens. `usable`: read and write by this user; `group`: whose it is."""

    path: str
    usable: bool
    group: str


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What an engine inherits. `memlock`: bytes that may be locked, -1: unlimited; `files`: open at once, the hard
    limit, up to which vLLM raises its own."""

    memlock: int = -1
    files: int = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Node:
    """All of it. `variables`: those that choose GPUs; `ignored`: MoRI-IO's old ones, each with what to write instead.

    `rdma`: network devices, and whether a port is active; `numa_balancing`: what the kernel's switch says.
    """

    gpus: tuple[GpuDevice, ...] = ()
    users: tuple[GpuUser, ...] = ()
    driver: Driver = field(default_factory=Driver)
    files: tuple[DeviceFile, ...] = ()
    limits: Limits = field(default_factory=Limits)
    numa_balancing: int | None = None
    rdma: tuple[tuple[str, bool], ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)

    def of(self, vendor: str) -> tuple[GpuDevice, ...]:
        """The GPUs of one vendor."""
        return tuple(gpu for gpu in self.gpus if gpu.vendor == vendor)
