"""What each GPU did while an arm was measured, from the telemetry that was sampled beside the run.

A share is of the time since the reading before, so only readings whose whole interval lies in a window of the arm
count; of a gauge, those that lie in one. AMD's shares come from accumulators. NVML has a gauge of its own short window
alone, which can miss most of what happens between two readings: `counted` says which it is. Bytes are the growth of a
counter, null where a hole in its samples leaves a part of a window unknown. In a run that was spread over nodes a GPU
has the windows of the repeats that its own node measured, and a node that measured nothing of an arm has no row there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.gpu_series import GpuSeries, gpu_series
from labkit.analysis.nodes import is_near, nodes_of_repeats
from labkit.analysis.tables import Floats, typed_frame
from labkit.analysis.windows import Window, merged, windows
from labkit.core import gpus
from labkit.core.columns import column
from labkit.core.energy import POWER
from labkit.core.records import Record

_SHARES = {gpus.GFX_BUSY: gpus.GFX_BUSY_GAUGE, gpus.MEMORY_BUSY: gpus.MEMORY_BUSY_GAUGE}


@dataclass(frozen=True, kw_only=True)
class GpuUseRow(Record):
    """One GPU in the windows of one arm."""

    arm: str = column("string", "", "label of the arm")
    source: str = column("string", "", "library that told it: `amdsmi` or `nvml`")
    device: str = column("string", "", "name of the GPU")
    seconds: float = column("float64", "s", "length of the windows that its machine measured")
    n: int = column("int64", "", "readings of its busy share that count")
    counted: bool = column("bool", "", "whether the shares are counted; else a gauge of a short window each")
    gfx_busy: float | None = column("float64", "", "share of the time a kernel ran, mean, 0 to 1", nullable=True)
    gfx_busy_max: float | None = column("float64", "", "the largest such share of a reading", nullable=True)
    memory_busy: float | None = column("float64", "", "share of the memory's bandwidth used, mean", nullable=True)
    vram_used: float | None = column("float64", "bytes", "memory in use, at most", nullable=True)
    vram_total: float | None = column("float64", "bytes", "memory of the GPU", nullable=True)
    power_w: float | None = column("float64", "W", "power, mean over the readings", nullable=True)
    power_max_w: float | None = column("float64", "W", "power, the largest reading", nullable=True)
    hotspot_max: float | None = column("float64", "C", "hottest place of the chip, at most", nullable=True)
    link_read: float | None = column("float64", "bytes", "read from other GPUs", nullable=True)
    link_written: float | None = column("float64", "bytes", "written to other GPUs", nullable=True)


def gpu_use(samples: pd.DataFrame, steps: pd.DataFrame) -> pd.DataFrame:
    """One row per arm and GPU, columns as GpuUseRow declares them; warm-up left out. Empty where no GPU was read."""
    devices, found, nodes = gpu_series(samples), windows(steps), nodes_of_repeats(steps)

    def near(arm: str, device: GpuSeries) -> tuple[Window, ...]:
        mine = [each for key, each in found.items() if key[0] == arm and is_near(device.source, nodes.get(key[-1]))]
        return merged(span for each in mine for span in each)

    arms = in_order(pd.Series([arm for arm, *_ in found], dtype="string"))
    rows = [_row(arm, device, spans) for arm in arms for device in devices if (spans := near(arm, device))]
    return typed_frame(GpuUseRow, rows)


def _row(arm: str, device: GpuSeries, spans: Sequence[Window]) -> GpuUseRow:
    counted = gpus.GFX_BUSY in device.series
    names = _SHARES.keys() if counted else _SHARES.values()
    busy, memory = (device.within(what, spans, since_before=counted) for what in names)
    power = device.within(POWER, spans)
    return GpuUseRow(
        arm=arm,
        source=device.source,
        device=device.name,
        seconds=sum(span.seconds for span in spans),
        n=int(busy.size),
        counted=counted,
        gfx_busy=_mean(busy),
        gfx_busy_max=_max(busy),
        memory_busy=_mean(memory),
        vram_used=_max(device.within(gpus.VRAM_USED, spans)),
        vram_total=_max(device.within(gpus.VRAM_TOTAL, spans)),
        power_w=_mean(power),
        power_max_w=_max(power),
        hotspot_max=_max(device.within(gpus.HOTSPOT, spans)),
        link_read=device.grown(gpus.LINK_READ, spans),
        link_written=device.grown(gpus.LINK_WRITTEN, spans),
    )


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if values.size else None


def _max(values: Floats) -> float | None:
    return float(values.max()) if values.size else None
