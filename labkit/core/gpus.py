"""How a GPU stands in a run's telemetry besides its energy and power: `<device>/<series>`, named as in `core.energy`.

A share is of the time since the reading before, so the first is null. A gauge is what the driver holds to be now. What
counts up counts from the run's first reading, resets and overflows of the hardware's counter already undone.
"""

from __future__ import annotations

from typing import Final, NamedTuple

GFX_BUSY = "gfx_busy"
MEMORY_BUSY = "memory_busy"
GFX_BUSY_GAUGE = "gfx_busy_gauge"
MEMORY_BUSY_GAUGE = "memory_busy_gauge"
VRAM_USED = "vram_used"
VRAM_TOTAL = "vram_total"
HOTSPOT = "hotspot"
HBM_TEMPERATURE = "hbm_temperature"
GPU_TEMPERATURE = "gpu_temperature"
GFX_CLOCK = "gfx_clock"
MEMORY_CLOCK = "memory_clock"
LINK_READ = "link_read"
LINK_WRITTEN = "link_written"
PCIE_RATE = "pcie_rate"


class Series(NamedTuple):
    """`counts`: it grows from the run's first reading on."""

    unit: str
    meaning: str
    counts: bool = False


SERIES: Final[dict[str, Series]] = {
    GFX_BUSY: Series("1", "share of the time since the reading before in which a kernel ran, 0 to 1"),
    MEMORY_BUSY: Series("1", "share of the memory's bandwidth used since the reading before, 0 to 1"),
    GFX_BUSY_GAUGE: Series(
        "1", "the driver's own share over its last, short window: between two readings all may change"
    ),
    MEMORY_BUSY_GAUGE: Series("1", "share of that window in which memory was read or written"),
    VRAM_USED: Series("bytes", "memory of the GPU in use, by every process"),
    VRAM_TOTAL: Series("bytes", "memory of the GPU"),
    HOTSPOT: Series("C", "the hottest place of the chip (junction)"),
    HBM_TEMPERATURE: Series("C", "the hottest stack of memory"),
    GPU_TEMPERATURE: Series("C", "the chip, where the driver tells no hotspot"),
    GFX_CLOCK: Series("MHz", "mean clock of the compute dies"),
    MEMORY_CLOCK: Series("MHz", "clock of the memory"),
    LINK_READ: Series("bytes", "read from other GPUs, over all links (XGMI, NVLink)", counts=True),
    LINK_WRITTEN: Series("bytes", "written to other GPUs, over all links", counts=True),
    PCIE_RATE: Series("bytes/s", "over PCIe in both directions, in the driver's last, short window"),
}
