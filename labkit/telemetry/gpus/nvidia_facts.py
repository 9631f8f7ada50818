"""What is known of an NVIDIA GPU once and for all.

CUDA numbers the fastest first unless CUDA_DEVICE_ORDER=PCI_BUS_ID, NVML by PCI address. On a machine whose GPUs are all
alike that is the same order (inferred), which is taken for granted here.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from labkit.telemetry.gpus.gpu import GpuFacts


def facts(nvml: ModuleType, handle: Any, number: int) -> GpuFacts:
    """Of the GPU that NVML has under this number."""

    def asked(call: Callable[..., Any], *of: Any) -> Any:
        try:
            return call(*of)
        except nvml.NVMLError:
            return None

    pci, uuid = asked(nvml.nvmlDeviceGetPciInfo, handle), asked(nvml.nvmlDeviceGetUUID, handle)
    version = asked(nvml.nvmlSystemGetNVMLVersion)
    capability = asked(nvml.nvmlDeviceGetCudaComputeCapability, handle)
    return GpuFacts(
        name=f"gpu{number}",
        bdf=_address(_text(pci.busId)) if pci else None,
        market_name=_text(asked(nvml.nvmlDeviceGetName, handle)),
        device_id=f"{pci.pciDeviceId >> 16:#06x}" if pci else None,
        architecture=f"sm_{capability[0]}{capability[1]}" if capability else None,
        driver=_text(asked(nvml.nvmlSystemGetDriverVersion)),
        library=f"NVML {_text(version)}" if version else None,
        indices=(number,),
        uuids=(_text(uuid),) if uuid else (),
    )


def _address(bus_id: str) -> str:
    """With four digits for the domain, as the rest of the system writes it."""
    domain, _, rest = bus_id.lower().partition(":")
    return f"{int(domain, 16):04x}:{rest}"


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value
