"""A logarithmic axis of gains: round ticks on both sides of 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

_LADDERS: tuple[tuple[float, ...], ...] = (
    (1, 1.05, 1.1, 1.2, 1.3),
    (1, 1.25, 1.5, 2, 3),
    (1, 2, 5, 10, 20, 50, 100, 1000),
)
_WIDEST = (1.3, 3.2, math.inf)


def gain_ticks(values: Sequence[float]) -> tuple[list[float], list[str], list[float]]:
    """Tick values, their words, and the axis range in powers of ten, for gains of which some may be losses."""
    low, high = min([*values, 0.95]), max([*values, 1.05])
    reach = max(high, 1 / low)
    ladder = next(steps for steps, widest in zip(_LADDERS, _WIDEST, strict=True) if reach <= widest)
    both = sorted({*ladder, *(1 / step for step in ladder)})
    ticks = [tick for tick in both if low * 0.8 <= tick <= high * 1.25]
    room = 0.08 * math.log10(high / low)
    return ticks, [f"{tick:.3g}" for tick in ticks], [math.log10(low) - room, math.log10(high) + room]
