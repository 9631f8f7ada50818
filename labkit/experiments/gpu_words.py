"""What GPUs did while arms were measured, as the report and the terminal say it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from labkit.analysis.format import DASH, missing, percent, plain
from labkit.analysis.gpu_use import gpu_use
from labkit.analysis.gpus_by_arm import gpus_by_arm

HEAD = ("arm", "GPUs", "busy", "least", "most", "memory", "GB used", "W", "GB read", "written")
NOTE = (
    "All GPUs of the machine, or of the nodes, that measured an arm, idle ones too, while it did. Busy: share of the "
    "time in which a kernel ran, which is not how much of the GPU it used; mean, and of the least and the most busy "
    "GPU. Memory: share of its bandwidth. GB used: memory in use, at most, on one GPU. W: all of one machine together, "
    "mean. Read, written: between GPUs."
)
GAUGE = "~: a gauge of the driver's own short window, not counted since the reading before."
_GB = 1e9
_TOLD = ("gfx_busy", "vram_used", "link_read")


def arms_of_gpus(samples: pd.DataFrame, steps: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of `labkit.analysis.gpus_by_arm`; none where GPUs told no more than energy and power."""
    table = gpus_by_arm(gpu_use(samples, steps))
    return [dict(row) for row in table.to_dict("records")] if table[[*_TOLD]].notna().any(axis=None) else []  # type: ignore[arg-type]


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """One arm, under HEAD."""
    mark = "" if row["counted"] or missing(row["gfx_busy"]) else "~"
    shares = (percent(row[name]) for name in ("gfx_busy_least", "gfx_busy_most", "memory_busy"))
    gigabytes = [_gb(row[name]) for name in ("vram_used", "link_read", "link_written")]
    return (
        str(row["arm"]),
        str(row["n_gpus"]),
        mark + percent(row["gfx_busy"]),
        *shares,
        gigabytes[0],
        plain(row["power_w"]),
        *gigabytes[1:],
    )


def note(rows: list[dict[str, Any]]) -> str:
    """What the table rests on."""
    return NOTE if all(row["counted"] for row in rows) else f"{NOTE} {GAUGE}"


def _gb(value: Any) -> str:
    return DASH if missing(value) else plain(value / _GB)
