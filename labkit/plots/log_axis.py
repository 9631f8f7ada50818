"""Logarithmic axes: round ticks on both sides of 1 for gains, round ticks for times. No tick runs into another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

_LADDERS: tuple[tuple[float, ...], ...] = (
    (1, 1.05, 1.1, 1.2, 1.3),
    (1, 1.25, 1.5, 2, 3),
    (1, 2, 5, 10, 20),
)
_WIDEST = (1.3, 3.2, 30.0)
_APART = 0.16
"""Share of the axis that a tick's words need: those of five characters where a panel is 220 px wide."""
_REACH = 20.0
"""How far an interval is drawn at least; a longer one runs out of the picture."""
_MOST_TIMES = 6


def gain_ticks(values: Sequence[float]) -> tuple[list[float], list[str], list[float]]:
    """Tick values, their words, and the axis range in powers of ten, for gains of which some may be losses."""
    low, high = min([*values, 0.95]), max([*values, 1.05])
    room = 0.08 * math.log10(high / low)
    ends = [math.log10(low) - room, math.log10(high) + room]
    above = [step for step in _steps(max(high, 1 / low)) if step > 1]
    right, left = _spaced(above, ends), _spaced([1 / step for step in above], ends)
    ticks = [*reversed(left), 1.0, *right]
    return ticks, [f"{tick:.3g}" for tick in ticks], ends


def in_reach(gains: Sequence[float], bounds: Sequence[float]) -> list[float]:
    """What an axis must hold: every gain, and ends of intervals as far as they do not press all gains into one spot."""
    reach = max([_REACH, *(2 * max(gain, 1 / gain) for gain in gains)])
    return [*gains, *(min(max(bound, 1 / reach), reach) for bound in bounds)]


def time_ticks(low: float, high: float) -> list[float]:
    """Round values from `low` to `high` (both above 0): 1, 2 and 5 of each power of ten, or fewer of them."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**power for power in powers for step in steps]
        kept = [tick for tick in ticks if low * 0.99 <= tick <= high * 1.01]
        if len(kept) <= _MOST_TIMES:
            break
    return kept


def _steps(reach: float) -> Sequence[float]:
    """What may be a tick above 1. Beyond all ladders: powers of ten."""
    for steps, widest in zip(_LADDERS, _WIDEST, strict=True):
        if reach <= widest:
            return steps
    return [10.0**power for power in range(1, math.ceil(math.log10(reach)) + 1)]


def _spaced(ticks: Iterable[float], ends: Sequence[float]) -> list[float]:
    """Of ticks that go away from 1 those on the axis with room for their words."""
    kept, last, apart = [], 0.0, _APART * (ends[1] - ends[0])
    for tick in ticks:
        at = math.log10(tick)
        if ends[0] <= at <= ends[1] and abs(at - last) >= apart:
            kept.append(tick)
            last = at
    return kept
