"""All GPUs of a machine together, arm by arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.tables import Floats, null_if_nan, numbers, typed_frame
from labkit.core.columns import column
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class ArmGpusRow(Record):
    """All GPUs in the windows of one arm. One that told nothing makes a number null: a part would pass for all."""

    arm: str = column("string", "", "label of the arm")
    n_gpus: int = column("int64", "", "GPUs that were read, idle ones too")
    counted: bool = column("bool", "", "whether all shares are counted; else some are gauges")
    gfx_busy: float | None = column("float64", "", "share of the time a kernel ran, mean of all GPUs", nullable=True)
    gfx_busy_least: float | None = column("float64", "", "the same of the GPU that did least", nullable=True)
    gfx_busy_most: float | None = column("float64", "", "the same of the GPU that did most", nullable=True)
    memory_busy: float | None = column("float64", "", "share of the memory's bandwidth used, mean", nullable=True)
    vram_used: float | None = column("float64", "bytes", "memory in use on one GPU, at most", nullable=True)
    power_w: float | None = column("float64", "W", "power of all GPUs together, mean", nullable=True)
    power_max_w: float | None = column("float64", "W", "power of one GPU, the largest reading", nullable=True)
    link_read: float | None = column("float64", "bytes", "read from other GPUs, by all", nullable=True)
    link_written: float | None = column("float64", "bytes", "written to other GPUs, by all", nullable=True)


def gpus_by_arm(use: pd.DataFrame) -> pd.DataFrame:
    """One row per arm of what `gpu_use` gives, columns as ArmGpusRow declares them."""
    return typed_frame(ArmGpusRow, [_of_arm(arm, use[use["arm"] == arm]) for arm in in_order(use["arm"])])


def _of_arm(arm: str, use: pd.DataFrame) -> ArmGpusRow:
    def over(name: str, how: Callable[[Floats], Any]) -> float | None:
        return null_if_nan(float(how(numbers(use, name))))

    return ArmGpusRow(
        arm=arm,
        n_gpus=len(use),
        counted=bool(use["counted"].all()),
        gfx_busy=over("gfx_busy", np.mean),
        gfx_busy_least=over("gfx_busy", np.min),
        gfx_busy_most=over("gfx_busy", np.max),
        memory_busy=over("memory_busy", np.mean),
        vram_used=over("vram_used", np.max),
        power_w=over("power_w", np.sum),
        power_max_w=over("power_max_w", np.max),
        link_read=over("link_read", np.sum),
        link_written=over("link_written", np.sum),
    )
