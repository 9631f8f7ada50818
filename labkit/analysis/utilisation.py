"""How busy the machine was while passes ran, from the telemetry that was sampled beside the run.

A reading of the processor is a mean since the reading before, so only readings whose whole interval lies within a pass
count: a pass that is shorter than two readings has none. Of a GPU its watts are told here, since one that runs a small
kernel counts as busy; what else GPUs tell is in `gpu_use`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.passes import PASS_KEY
from labkit.analysis.tables import Floats, measured, null_if_nan, numbers, typed_frame
from labkit.core.columns import column
from labkit.core.energy import POWER
from labkit.core.records import Record

_GPU_SOURCES = ("amdsmi", "nvml")
Windows = list[tuple[float, float]]
"""First send and last end of each pass, in seconds of the run."""


@dataclass(frozen=True, kw_only=True)
class UtilisationRow(Record):
    """One arm under one condition, over all its passes; None: not sampled while they ran."""

    arm: str = column("string", "", "label of the arm")
    condition: str = column("string", "", "what was varied besides the arm; empty when nothing")
    n_readings: int = column("int64", "", "readings of the processor that lie within a pass")
    cpu_busy: float | None = column("float64", "", "busy share of all cores, mean, 0 to 1", nullable=True)
    gpu_w: float | None = column("float64", "W", "power of all GPUs together, mean", nullable=True)


def utilisation(steps: pd.DataFrame, samples: pd.DataFrame) -> pd.DataFrame:
    """One row per arm and condition, columns as UtilisationRow declares them; warm-up left out."""
    kept = measured(steps)
    rows = [
        _row(arm, str(condition), _windows(of), samples)
        for arm in in_order(kept["arm"])
        for condition, of in kept[kept["arm"] == arm].groupby("condition", sort=False)
    ]
    return typed_frame(UtilisationRow, rows)


def _row(arm: str, condition: str, windows: Windows, samples: pd.DataFrame) -> UtilisationRow:
    host = samples[(samples["source"] == "host") & (samples["name"] == "cpu_percent")]
    readings = _within(host, windows)
    return UtilisationRow(
        arm=arm,
        condition=condition,
        n_readings=len(readings),
        cpu_busy=float(readings.mean()) / 100 if len(readings) else None,
        gpu_w=_gpu_w(samples, windows),
    )


def _windows(steps: pd.DataFrame) -> Windows:
    passes = steps.groupby(PASS_KEY).agg(start=("t_send", "min"), end=("t_end", "max")).dropna()
    return list(zip(numbers(passes, "start").tolist(), numbers(passes, "end").tolist(), strict=True))


def _within(samples: pd.DataFrame, windows: Windows) -> Floats:
    """The values of one series whose time since the reading before lies within a window; unreadable ones left out."""
    ordered = samples.sort_values("t")
    t, values = numbers(ordered, "t"), numbers(ordered, "value")
    before = np.concatenate([[np.nan], t[:-1]]) if len(t) else t
    inside = np.zeros(len(t), dtype=bool)
    for start, end in windows:
        inside |= (before >= start) & (t <= end)
    return np.asarray(values[inside & ~np.isnan(values)], dtype=np.float64)


def _gpu_w(samples: pd.DataFrame, windows: Windows) -> float | None:
    """The sum of the devices' means. One device that told nothing makes it null: a part would pass for the whole."""
    power = samples[samples["source"].isin(_GPU_SOURCES) & samples["name"].str.endswith(f"/{POWER}")]
    means = [readings.mean() if len(readings) else np.nan for readings in _by_device(power, windows)]
    return null_if_nan(float(np.sum(means))) if means else None


def _by_device(power: pd.DataFrame, windows: Windows) -> list[Floats]:
    return [_within(of, windows) for _, of in power.groupby(["source", "name"])]
