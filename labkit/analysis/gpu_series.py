"""The series of each GPU, as they were sampled beside a run, and what of them lies in windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.tables import Floats, numbers
from labkit.analysis.unbroken import grown
from labkit.analysis.windows import Window

SOURCES = ("amdsmi", "nvml")
"""Of a run that was spread over nodes: after the node's name and a slash."""


@dataclass(frozen=True)
class GpuSeries:
    """The series of one GPU, by name: `t` (s) rising, and values with NaN for null."""

    source: str
    name: str
    series: dict[str, tuple[Floats, Floats]]

    def within(self, what: str, spans: Sequence[Window], *, since_before: bool = False) -> Floats:
        """Values that lie in a window; `since_before`: whose time since the reading before does, too."""
        t, values = self._of(what)
        start = np.concatenate([[np.nan], t[:-1]]) if since_before and t.size else t
        inside = np.zeros(t.size, dtype=bool)
        for span in spans:
            inside |= (start >= span.start) & (t <= span.end)
        return np.asarray(values[inside & ~np.isnan(values)], dtype=np.float64)

    def grown(self, what: str, spans: Sequence[Window]) -> float | None:
        """What a counter counted in all windows; None where it is not known of one of them."""
        t, values = self._of(what)
        parts = [grown(t, values, span) for span in spans]
        return None if not parts or None in parts else float(sum(part for part in parts if part is not None))

    def _of(self, what: str) -> tuple[Floats, Floats]:
        nothing = np.empty(0, dtype=np.float64)
        return self.series.get(what, (nothing, nothing))


def gpu_series(samples: pd.DataFrame) -> list[GpuSeries]:
    """Every GPU of `samples`, which has the columns of SampleRecord; in order of library and name."""
    of_gpus = samples[samples["source"].astype(str).str.split("/").str[-1].isin(SOURCES)]
    if of_gpus.empty:
        return []
    names = of_gpus["name"].astype(str).str.rsplit("/", n=1, expand=True)
    known = of_gpus.assign(device=names[0], what=names[1])
    return [
        GpuSeries(str(source), str(name), {str(what): _series(each) for what, each in group.groupby("what")})
        for (source, name), group in known.groupby(["source", "device"], sort=True)
    ]


def _series(samples: pd.DataFrame) -> tuple[Floats, Floats]:
    ordered = samples.sort_values("t", kind="stable")
    return numbers(ordered, "t"), numbers(ordered, "value")
