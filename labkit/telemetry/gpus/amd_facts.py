"""Which AMD GPUs there are, and what is known of each: names, partitions, versions, and what HIP calls it.

The library's handles are all GPUs of the machine, in the order of their PCI addresses. A GPU in a partitioned mode
(DPX, CPX) has a handle for each partition, which HIP takes for a device of its own; the handles differ in the function
of their PCI address alone (inferred). Energy, power and the metrics are the whole GPU's, so it is read once, through
its first handle; of NPS4 memory that may be a part (inferred).

`hip_id`, the library's name for it, is not asked of HIP: it is the GPU's number among the nodes of the kernel's compute
driver, less the smallest. That HIP counts in this order is what the library infers. Where it is not told, the order of
the handles is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from labkit.telemetry.gpus.gpu import GpuFacts

_MOST_DEVICES = 1024


def found(amdsmi: ModuleType) -> list[tuple[Any, GpuFacts]]:
    """The first handle of each GPU, with its facts. Raises AmdSmiException when the GPUs are not told."""
    whole: dict[str, list[tuple[int, str, Any]]] = {}
    for order, handle in enumerate(amdsmi.amdsmi_get_processor_handles()):
        bdf = str(amdsmi.amdsmi_get_gpu_device_bdf(handle))
        whole.setdefault(bdf.rpartition(".")[0], []).append((order, bdf, handle))
    return [(handles[0][2], _facts(amdsmi, handles)) for handles in whole.values()]


def _facts(amdsmi: ModuleType, handles: list[tuple[int, str, Any]]) -> GpuFacts:
    _, bdf, first = handles[0]
    asic = _asked(amdsmi, amdsmi.amdsmi_get_gpu_asic_info, first) or {}
    driver = _asked(amdsmi, amdsmi.amdsmi_get_gpu_driver_info, first) or {}
    seen = [
        (order, _asked(amdsmi, amdsmi.amdsmi_get_gpu_enumeration_info, handle) or {}) for order, _, handle in handles
    ]
    units = asic.get("num_compute_units")
    return GpuFacts(
        name=bdf,
        bdf=bdf,
        market_name=_text(asic.get("market_name")),
        device_id=_text(asic.get("device_id")),
        architecture=_text(asic.get("target_graphics_version")),
        compute_units=units if isinstance(units, int) else None,
        compute_partition=_text(_asked(amdsmi, amdsmi.amdsmi_get_gpu_compute_partition, first)),
        memory_partition=_text(_asked(amdsmi, amdsmi.amdsmi_get_gpu_memory_partition, first)),
        driver=_text(driver.get("driver_version")),
        library=f"amdsmi {amdsmi.__version__}",
        indices=tuple(_index(told.get("hip_id"), order) for order, told in seen),
        uuids=tuple(uuid for _, told in seen if (uuid := _text(told.get("hip_uuid")))),
    )


def _index(hip_id: Any, order: int) -> int:
    return hip_id if isinstance(hip_id, int) and hip_id < _MOST_DEVICES else order


def _asked(amdsmi: ModuleType, call: Callable[[Any], Any], handle: Any) -> Any:
    try:
        return call(handle)
    except (amdsmi.AmdSmiException, ValueError):  # a serial number that is no number
        return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value not in ("", "N/A") else None
