"""When a load is steady, and which of its requests count: those that are sent while every agent is at work.

It opens when each agent has had its first answer (before that, agents are still coming), and is over `window_s` later.
From then on nothing more counts, but agents go on until what counts has ended, so that it ran under the whole load.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from labkit.core.chat import ChatRequest, Model, Reply
from labkit.core.clock import Clock

_TICK_S = 1.0


@dataclass
class Window:
    """The state of one window. Times are readings of `clock`; None until it happened."""

    agents: int
    window_s: float
    clock: Clock
    start: float | None = None
    end: float | None = None
    close: float | None = None
    counted: int = 0
    """Requests that count, ended or not."""
    flying: int = 0
    """Requests under way, whether they count or not."""
    _answered: set[int] = field(default_factory=set)
    _open: int = 0
    _opened: asyncio.Event = field(default_factory=asyncio.Event)
    _quiet: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def steady(self) -> bool:
        """Whether a request that is sent now counts."""
        return self.start is not None and self.end is None

    def sent(self) -> bool:
        """A request leaves; whether it counts."""
        self.flying += 1
        if self.steady:
            self.counted += 1
            self._open += 1
        return self.steady

    def ended(self, agent: int, counts: bool) -> None:
        """A request has ended, well or not, and its row is kept."""
        self.flying -= 1
        self._open -= counts
        self._answered.add(agent)
        if self.start is None and len(self._answered) == self.agents:
            self.start = self.clock.now()
            self._opened.set()
        if self.end is not None and not self._open:
            self._quiet.set()

    async def opened(self) -> None:
        """Wait until every agent has had its first answer."""
        await self._opened.wait()

    async def run(self, on_tick: Callable[[], None]) -> None:
        """From its opening to the end of the last request that counts; `on_tick` once a second of the window."""
        assert self.start is not None
        for second in range(1, max(1, round(self.window_s))):
            await asyncio.sleep(self.start + second * _TICK_S - self.clock.now())
            on_tick()
        await asyncio.sleep(self.start + self.window_s - self.clock.now())
        self.end = self.clock.now()
        on_tick()
        if self._open:
            await self._quiet.wait()
        self.close = self.clock.now()


class Watched:
    """A model whose requests one agent sends; the window is told of each. `counts`: whether the last one does."""

    def __init__(self, model: Model, window: Window) -> None:
        self._model, self._window = model, window
        self.counts = False

    async def chat(self, request: ChatRequest) -> Reply:
        """Answer one request, as the model does. Raises RequestFailed."""
        self.counts = self._window.sent()
        return await self._model.chat(request)
