"""The busy share of an interval, from AMD's activity accumulators.

The gauges (`average_gfx_activity`) flip between 0 and 100 from one short sample to the next. The accumulators grow by
the busy percentage at each millisecond of the firmware's clock:

    share = (accumulator now - before) / (milliseconds of firmware_timestamp between them) / 100

Known from source: the accumulator is 32 bits wide in the table and of the same fixed point as the percentage; the
timestamp's unit is 10 ns. Inferred: the step of a millisecond, from AMD's own data centre tool, which derives memory
activity so. AMD has also published a share by `accumulation_counter`, times 100; with this unit that would be a hundred
times too much. So a share that is clearly above 1 is not cut to 1, it is null: then the unit is another one.
"""

from __future__ import annotations

_WRAPS_AT = 2**32
_PERCENT = 100
_MOST = 1.05
"""Rounding of both counters and their not being read at one instant; beyond that the unit is not the inferred one."""


class BusyShare:
    """Share of the time between two readings. A reset of the GPU, or a clock that stands, is None once."""

    def __init__(self) -> None:
        self._last: tuple[int, float] | None = None

    def share(self, accumulated: int | None, firmware_ms: float | None) -> float | None:
        """None at the first reading, and at the first after one that was not told."""
        last, self._last = self._last, None
        if accumulated is None or firmware_ms is None:
            return None
        self._last = (accumulated, firmware_ms)
        if last is None or firmware_ms <= last[1]:
            return None
        share = (accumulated - last[0]) % _WRAPS_AT / (firmware_ms - last[1]) / _PERCENT
        return min(share, 1.0) if share <= _MOST else None
