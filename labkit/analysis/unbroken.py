"""What a window can say of a series that was sampled: only where samples without a hole cover it."""

from __future__ import annotations

import numpy as np

from labkit.analysis.tables import Floats
from labkit.analysis.windows import Window

_MOST_APART_S = 3.0
_MOST_APART = 3
"""The straight line between two samples that are further apart than both, the latter times what is usual, says nothing.

Sampled is once a second; a late round is a second or two late.
"""


def grown(t: Floats, value: Floats, span: Window) -> float | None:
    """What a counter counted in a window, on the straight line between samples; None when they do not cover it.

    `t`: s, rising. They do not cover it where one is null, where the counter falls, or at an end where they are far
    apart: between two samples of a counter nothing is lost.
    """
    covering = _covering(t, span)
    if covering is None or not _whole(t, value, covering, counts=True):
        return None
    ends = np.interp([span.start, span.end], t, value)
    return float(ends[1] - ends[0])


def integral(t: Floats, value: Floats, span: Window) -> float | None:
    """Trapezoids under a gauge in a window; None when its samples do not cover it."""
    covering = _covering(t, span)
    if covering is None or not _whole(t, value, covering, counts=False):
        return None
    ends = np.interp([span.start, span.end], t, value)
    inside = (t > span.start) & (t < span.end)
    x = np.concatenate([[span.start], t[inside], [span.end]])
    return float(np.trapezoid(np.concatenate([ends[:1], value[inside], ends[1:]]), x))


def _covering(t: Floats, span: Window) -> slice | None:
    """The samples from the last before the window to the first after it."""
    first = int(np.searchsorted(t, span.start, side="right")) - 1
    last = int(np.searchsorted(t, span.end, side="left"))
    return slice(first, last + 1) if first >= 0 and last < t.size else None


def _whole(t: Floats, value: Floats, covering: slice, *, counts: bool) -> bool:
    values, between = value[covering], np.diff(t[covering])
    if np.isnan(values).any() or (counts and (np.diff(values) < 0).any()):
        return False
    apart = between[[0, -1]] if counts and between.size else between
    return not (apart > max(_MOST_APART_S, _MOST_APART * float(np.median(np.diff(t))))).any()
