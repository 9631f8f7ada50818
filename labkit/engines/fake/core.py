"""What all requests of one fake share: its cache, its counters and the places for running requests."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from labkit.engines.fake.cache import BlockCache
from labkit.engines.fake.dials import FakeDials
from labkit.engines.fake.metrics import FakeMetrics


@dataclass
class Core:
    """One life of the engine, from start to restart."""

    dials: FakeDials
    cache: BlockCache
    metrics: FakeMetrics
    slots: asyncio.Semaphore
    forward: asyncio.Lock
    """Held by the one prefill that runs under `serial_prefill`; fair, so waiters go in order."""
    blocks: int = 0
    """Those that prompts of running requests take."""

    @classmethod
    def new(cls, dials: FakeDials) -> Core:
        cache = BlockCache(dials.block_size, dials.num_blocks)
        return cls(dials, cache, FakeMetrics(dials), asyncio.Semaphore(dials.max_num_seqs), asyncio.Lock())

    def turn(self) -> AbstractAsyncContextManager[object]:
        """The engine for one forward pass: at once, or under `serial_prefill` after the prefills before it."""
        return self.forward if self.dials.serial_prefill else nullcontext()

    def take(self, blocks: int) -> None:
        """So many blocks more are in use, or fewer."""
        self.blocks += blocks
        self.metrics.kv_usage.set(self.blocks / self.dials.num_blocks)


class Slot:
    """A place among the running requests, and the blocks of a prompt; counted as waiting until it is there."""

    def __init__(self, core: Core, tokens: int) -> None:
        self._core = core
        self._blocks = -(-tokens // core.dials.block_size)

    async def __aenter__(self) -> None:
        self._core.metrics.waiting.inc()
        try:
            await self._core.slots.acquire()
        finally:
            self._core.metrics.waiting.dec()
        self._core.metrics.running.inc()
        self._core.take(self._blocks)

    async def __aexit__(self, *_: object) -> None:
        self._core.metrics.running.dec()
        self._core.take(-self._blocks)
        self._core.slots.release()
