"""Ctrl-C and SIGTERM end a run in good order: the request in flight is cancelled, the run is marked, engines are ended.

The first signal cancels; further ones are ignored while things are put away, since a second Ctrl-C must not leave an
engine behind. SIGKILL remains, and the fleet finds what it leaves.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(Exception):
    """The work was stopped by this signal, and has put everything away."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.signal = number

    @property
    def exit_status(self) -> int:
        """What a shell expects of a process that a signal ended."""
        return 128 + self.signal


def run_until_signal(work: Coroutine[Any, Any, T], on_signal: Callable[[signal.Signals], None]) -> T:
    """`asyncio.run(work)`; raises Stopped once a signal came and `work` has cleaned up. `on_signal` hears the first."""
    came: list[signal.Signals] = []

    async def guarded() -> T:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()

        def stop(number: signal.Signals) -> None:
            if not came:
                came.append(number)
                on_signal(number)
                task.cancel()

        for number in SIGNALS:
            loop.add_signal_handler(number, stop, number)
        return await task

    try:
        return asyncio.run(guarded())
    except asyncio.CancelledError:
        if came:
            raise Stopped(came[0]) from None
        raise
