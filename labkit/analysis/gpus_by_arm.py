"""All GPUs of a machine together, arm by arm.

Of an arm that several nodes measured, each in repeats of its own: a mean is over the time that each node measured, and
the power is that of one node's GPUs at a time, since that is what served.
"""

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
    n_gpus: int = column("int64", "", "GPUs that were read, idle ones too, on every node that measured it")
    counted: bool = column("bool", "", "whether all shares are counted; else some are gauges")
    gfx_busy: float | None = column("float64", "", "share of the time a kernel ran, mean of all GPUs", nullable=True)
    gfx_busy_least: float | None = column("float64", "", "the same of the GPU that did least", nullable=True)
    gfx_busy_most: float | None = column("float64", "", "the same of the GPU that did most", nullable=True)
    memory_busy: float | None = column("float64", "", "share of the memory's bandwidth used, mean", nullable=True)
    vram_used: float | None = column("float64", "bytes", "memory in use on one GPU, at most", nullable=True)
    power_w: float | None = column("float64", "W", "power of all GPUs of a machine together, mean", nullable=True)
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
        gfx_busy=_mean(use, "gfx_busy"),
        gfx_busy_least=over("gfx_busy", np.min),
        gfx_busy_most=over("gfx_busy", np.max),
        memory_busy=_mean(use, "memory_busy"),
        vram_used=over("vram_used", np.max),
        power_w=_of_a_machine(use, "power_w"),
        power_max_w=over("power_max_w", np.max),
        link_read=over("link_read", np.sum),
        link_written=over("link_written", np.sum),
    )


def _mean(use: pd.DataFrame, name: str) -> float | None:
    """Over the GPUs, each for as long as its machine measured."""
    return _weighted(numbers(use, name), numbers(use, "seconds"))


def _of_a_machine(use: pd.DataFrame, name: str) -> float | None:
    """The sum over a machine's GPUs; of several machines, the mean over the time that each measured."""
    machine = use["source"].map(lambda source: source.rpartition("/")[0])
    machines = [use[machine == each] for each in machine.unique()]
    sums = [numbers(each, name).sum() for each in machines]
    return _weighted(np.array(sums), np.array([numbers(each, "seconds")[0] for each in machines]))


def _weighted(values: Floats, seconds: Floats) -> float | None:
    """Windows without length count alike."""
    return null_if_nan(float(np.average(values, weights=seconds if seconds.sum() else None)))
