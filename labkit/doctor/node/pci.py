"""GPUs on the PCI bus, as the kernel lists them: they are there even when their driver or its library is not.

What amdgpu adds beside a device's ids is documented in the kernel's Documentation/gpu/amdgpu: VRAM in bytes
(`mem_info_vram_total`, `_used`) and, on the MI300 series, the partition modes.
"""

from __future__ import annotations

from pathlib import Path

from labkit.doctor.node.records import GpuDevice, Vendor
from labkit.doctor.node.roots import Roots, number, text

_VENDORS: dict[str, Vendor] = {"0x1002": "amd", "0x10de": "nvidia"}
_CLASSES = ("0x0300", "0x0302", "0x0380", "0x1200")
"""VGA, 3D and display controllers, and processing accelerators: what an Instinct is."""


def on_bus(roots: Roots) -> tuple[GpuDevice, ...]:
    """Every GPU of AMD or NVIDIA, in the order of the bus."""
    folders = sorted((roots.sys / "bus" / "pci" / "devices").glob("*"))
    return tuple(_device(folder) for folder in folders if _is_gpu(folder))


def _is_gpu(folder: Path) -> bool:
    return text(folder / "vendor") in _VENDORS and (text(folder / "class") or "").startswith(_CLASSES)


def _device(folder: Path) -> GpuDevice:
    return GpuDevice(
        vendor=_VENDORS[text(folder / "vendor") or ""],
        device_id=text(folder / "device") or "",
        bdf=folder.name,
        compute=text(folder / "current_compute_partition"),
        memory=text(folder / "current_memory_partition"),
        vram_total=number(folder / "mem_info_vram_total"),
        vram_used=number(folder / "mem_info_vram_used"),
    )
