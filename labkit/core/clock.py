"""One monotonic clock for every duration; wall time only for names and for joining with the outside world."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What measures time. `now` is monotonic seconds; its zero means nothing on its own."""

    def now(self) -> float: ...

    def wall(self) -> datetime: ...


class SystemClock:
    """The machine's CLOCK_MONOTONIC, shared by all processes of one machine."""

    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> datetime:
        return datetime.now(UTC)


class FakeClock:
    """A clock that a test moves by hand."""

    def __init__(self, now: float = 0.0) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    def wall(self) -> datetime:
        return datetime.fromtimestamp(self._now, UTC)

    def advance(self, seconds: float) -> None:
        self._now += seconds
