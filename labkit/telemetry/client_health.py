"""Whether the lab itself was the bottleneck: how late its event loop ran, and how much CPU it used.

A chunk is stamped when the loop comes to it, so the loop's lag is the error of every time on that client.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from typing import Self

import psutil

from labkit.telemetry.cpu import Share
from labkit.telemetry.source import Reading

_TICK_S = 0.02


class ClientHealth:
    """A source and an async context manager: it measures between entry and exit, on the loop that it was entered on.

    Readings cover the time since the last read: `loop_ticks` of 20 ms, and over them `loop_lag_p50`, `loop_lag_p99`,
    `loop_lag_max` and `loop_lag_mean` in s; `cpu` in cores of this process alone, `rss` in bytes.
    """

    name = "client"

    def __init__(self) -> None:
        self._lags: list[float] = []
        self._share = Share()
        self._me = psutil.Process()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._tick(), name="labkit loop lag")
        self._cores()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def read(self) -> Sequence[Reading]:
        lags, self._lags = self._lags, []
        return [
            Reading("loop_ticks", "ticks", float(len(lags))),
            Reading("loop_lag_p50", "s", _percentile(lags, 0.5)),
            Reading("loop_lag_p99", "s", _percentile(lags, 0.99)),
            Reading("loop_lag_max", "s", max(lags, default=None)),
            Reading("loop_lag_mean", "s", sum(lags) / len(lags) if lags else None),
            Reading("cpu", "cores", self._cores()),
            Reading("rss", "bytes", float(self._me.memory_info().rss)),
        ]

    async def _tick(self) -> None:
        while True:
            due = time.monotonic() + _TICK_S
            await asyncio.sleep(_TICK_S)
            self._lags.append(max(0.0, time.monotonic() - due))

    def _cores(self) -> float | None:
        times = os.times()
        return self._share.cores({(self._me.pid, 0.0): times.user + times.system})


def _percentile(lags: Sequence[float], q: float) -> float | None:
    """Between the two nearest values, as numpy's; in plain Python, since it is called within the run."""
    if not lags:
        return None
    ordered, at = sorted(lags), q * (len(lags) - 1)
    low = int(at)
    return ordered[low] + (at - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])
