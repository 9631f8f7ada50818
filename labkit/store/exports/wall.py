"""From seconds since the run's start to the wall clock, for formats that want it.

A run reads the wall clock once, at its start; every later time is that plus the monotonic offset. So durations stay
exact, and a wall clock that is set during a run cannot bend them.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Wall:
    """`created`: the run's start, ISO 8601 with an offset."""

    def __init__(self, created: str) -> None:
        self._start = datetime.fromisoformat(created)
        self._start_us = (self._start - _EPOCH) // timedelta(microseconds=1)

    def ns(self, t: float) -> int:
        """Nanoseconds since 1970 of `t` seconds after the run's start; whole numbers, as floats hold no nanoseconds."""
        return self._start_us * 1_000 + round(t * 1e9)

    def iso(self, t: float) -> str:
        """The same in ISO 8601, UTC, to the microsecond."""
        return (self._start.astimezone(UTC) + timedelta(seconds=t)).isoformat(timespec="microseconds")
