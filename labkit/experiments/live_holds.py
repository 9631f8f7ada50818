"""What a live run keeps open for each engine that it keeps warm: its lock, a client, samples of its gauges, its logs.

All are held from the engine's first use until the run ends or the engine does, so that a toggle back costs nothing.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial

from labkit.core.arms import Arm
from labkit.core.clock import Clock
from labkit.engines.client import EngineClient
from labkit.experiments.keep_logs import kept_logs
from labkit.experiments.sampling import engine_sampled
from labkit.experiments.serving import EngineProvider, Served
from labkit.store.runs import RunWriter


@dataclass(frozen=True, kw_only=True)
class Station:
    """An arm that can be sent to now. Arms that differ in prefix caching alone may share an engine and its client."""

    arm: Arm
    served: Served
    client: EngineClient

    @property
    def engine(self) -> str:
        return self.served.engine


@dataclass
class Holds:
    """The engines that the run holds. Mutable."""

    provider: EngineProvider
    writer: RunWriter
    clock: Clock
    _open: dict[str, tuple[AsyncExitStack, EngineClient]] = field(default_factory=dict, init=False)

    async def station(self, arm: Arm, served: Served) -> Station:
        """The arm on this engine, which is held from now on. Raises EngineBusy when another run holds it."""
        if served.engine not in self._open:
            self._open[served.engine] = await self._hold(served)
        return Station(arm=arm, served=served, client=self._open[served.engine][1])

    async def release(self, engine: str) -> None:
        """Let go of it, if it is held: it is to be ended, or has died."""
        if engine in self._open:
            stack, _ = self._open.pop(engine)
            await stack.aclose()

    async def close(self) -> None:
        """Let go of all."""
        for engine in list(self._open):
            await self.release(engine)

    async def _hold(self, served: Served) -> tuple[AsyncExitStack, EngineClient]:
        async with AsyncExitStack() as stack:
            stack.enter_context(self.provider.locked(served, self.writer.id))
            stack.enter_context(kept_logs(served, self.writer.log_dir))
            watch = partial(self.provider.check, served)
            client = await stack.enter_async_context(served.client(self.clock, watch))
            await stack.enter_async_context(engine_sampled(self.writer, served, self.clock))
            return stack.pop_all(), client
