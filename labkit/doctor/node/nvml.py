"""NVIDIA GPUs as NVML tells them: names, memory, who holds it, and the driver with the newest CUDA that it serves."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from labkit.doctor.node.records import GpuDevice, GpuUser
from labkit.doctor.node.roots import Roots, text


class Told(NamedTuple):
    """What NVML told; empty where it does not load or there is no driver."""

    gpus: tuple[GpuDevice, ...] = ()
    users: tuple[GpuUser, ...] = ()
    driver: str | None = None
    cuda: str | None = None


def told(roots: Roots) -> Told:
    """All NVIDIA GPUs of the machine, whatever CUDA_VISIBLE_DEVICES says."""
    with _nvml() as nvml:
        if nvml is None:
            return Told()
        try:
            return _read(nvml, roots)
        except nvml.NVMLError:
            return Told()


@contextlib.contextmanager
def _nvml() -> Iterator[ModuleType | None]:
    try:
        import pynvml  # the module of nvidia-ml-py

        pynvml.nvmlInit()
    except Exception:  # noqa: BLE001 - no package, no library or no driver: each has its own kind of error
        yield None
        return
    try:
        yield pynvml
    finally:
        pynvml.nvmlShutdown()


def _read(nvml: Any, roots: Roots) -> Told:
    handles = [nvml.nvmlDeviceGetHandleByIndex(n) for n in range(nvml.nvmlDeviceGetCount())]
    cuda = nvml.nvmlSystemGetCudaDriverVersion_v2()
    users = {user.pid: user for handle in handles for user in _users(nvml, handle, roots)}
    return Told(
        gpus=tuple(_device(nvml, handle) for handle in handles),
        users=tuple(users.values()),
        driver=_word(nvml.nvmlSystemGetDriverVersion()),
        cuda=f"{cuda // 1000}.{cuda % 1000 // 10}",
    )


def _device(nvml: Any, handle: Any) -> GpuDevice:
    pci, memory = nvml.nvmlDeviceGetPciInfo(handle), nvml.nvmlDeviceGetMemoryInfo(handle)
    return GpuDevice(
        vendor="nvidia",
        device_id=f"0x{pci.pciDeviceId >> 16:04x}",
        bdf=_word(pci.busId).lower()[-12:],
        name=_word(nvml.nvmlDeviceGetName(handle)),
        vram_total=memory.total,
        vram_used=memory.used,
    )


def _users(nvml: Any, handle: Any, roots: Roots) -> list[GpuUser]:
    try:
        found = nvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except nvml.NVMLError:
        return []
    return [
        GpuUser(pid=each.pid, name=text(roots.proc / str(each.pid) / "comm") or "?", vram=each.usedGpuMemory)
        for each in found
    ]


def _word(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
