"""A counter that only grows, from one that overflows."""

from __future__ import annotations


class Rising:
    """`total(reading)` is what was counted since the first reading, in the reading's unit.

    `wraps_at`: the reading after which the hardware starts again from 0. It must be read more than once per overflow:
    RAPL's overflows after some 20 minutes at 200 W. Where a counter that does not overflow steps back it was reset, and
    what it had counted since the last reading is lost: the answer is None once, and counting goes on from there.
    """

    def __init__(self, wraps_at: float | None = None) -> None:
        self._wraps_at = wraps_at
        self._last: float | None = None
        self._total = 0.0

    def total(self, reading: float | None) -> float | None:
        """None for a reading that is not there; the next one that is makes up for it."""
        if reading is None:
            return None
        step = 0.0 if self._last is None else reading - self._last
        self._last = reading
        if step < 0 and self._wraps_at is None:
            return None
        self._total += step if step >= 0 or self._wraps_at is None else step + self._wraps_at
        return self._total
