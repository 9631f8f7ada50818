"""When an arm was measured: from the first send to the last end of each pass, merged where passes overlapped.

What lies between the steps of a pass (a tool that runs, the lab counting tokens) is inside: the machine is paid for,
and draws power, while it waits. What lies between passes (another arm, an engine starting) is outside.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from labkit.analysis.tables import measured, numbers

GROUP = ["arm", "condition", "cache", "repeat"]
"""What is measured without anything else in between, but for the order of its passes."""
_PASS = [*GROUP, "task", "recording"]


class Window(NamedTuple):
    """Seconds since the run's start."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


def windows(steps: pd.DataFrame) -> dict[tuple[str, str, str, int], tuple[Window, ...]]:
    """The windows of each (arm, condition, cache, repeat), in time, disjoint. Warm-up is left out.

    A step that failed lasts until its end where that is known, else it only marks its send.
    """
    kept = measured(steps)
    spans = kept[_PASS].assign(start=numbers(kept, "t_send"), end=_ends(kept))
    passes = spans.groupby(_PASS, sort=False).agg(start=("start", "min"), end=("end", "max"))
    found: dict[tuple[str, str, str, int], list[Window]] = {}
    for (arm, condition, cache, repeat, *_), row in zip(passes.index, passes.itertuples(index=False), strict=True):
        key = (str(arm), str(condition), str(cache), int(repeat))
        found.setdefault(key, []).append(Window(float(row.start), float(row.end)))  # type: ignore[arg-type]
    return {key: merged(each) for key, each in found.items()}


def _ends(steps: pd.DataFrame) -> pd.Series[float]:
    send, end = numbers(steps, "t_send"), numbers(steps, "t_end")
    return pd.Series(np.where(np.isnan(end), send, end), index=steps.index)


def merged(spans: Iterable[Window]) -> tuple[Window, ...]:
    """In time, disjoint."""
    found: list[Window] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].end:
            found[-1] = Window(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return tuple(found)
