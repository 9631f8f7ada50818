"""Nodes with known answers: each has a fake engine of its own, a delay of its own and a clock that is set wrong."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from labkit.core.arms import Arm
from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import EngineNotReady
from labkit.core.progress import OnProgress, silent
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.design import Design
from labkit.experiments.serving import Served, StaticProvider
from labkit.experiments.spread.offset import Offset, measured_offset
from labkit.experiments.spread.relayed import Line
from labkit.experiments.spread.worker import Order, Worker
from labkit.experiments.spread.workers import NodeLost

BLOCK = 16


@dataclass(frozen=True)
class Fakes:
    """A recipe. `slow`: node to what its engine takes more until the first token, s. `refuses`: node to an arm."""

    slow: Mapping[str, float] = field(default_factory=dict)
    refuses: Mapping[str, str] = field(default_factory=dict)
    per_token_s: float = 0.0
    """Of prefill, on every node: what prefix caching saves."""
    itl_s: float = 0.001

    def __call__(self, node: str) -> FakeNode:
        dials = FakeDials(
            ttft_s=self.slow.get(node, 0.0),
            prefill_s_per_token=self.per_token_s,
            itl_s=self.itl_s,
            block_size=BLOCK,
        )
        return FakeNode(node, dials, self.refuses.get(node))


class FakeNode:
    """EngineProvider over one fake engine, which it starts for each block and ends as it should."""

    def __init__(self, node: str, dials: FakeDials, refused: str | None) -> None:
        self._node, self._dials, self._refused = node, dials, refused
        self._engine: FakeEngine | None = None

    def fingerprint(self, arms: Sequence[Arm]) -> dict[str, Any]:
        return {"engines": {}, "model": self._dials.model, "gpu": f"of {self._node}"}

    def starts(
        self, arms: Sequence[Arm], spec_methods: Sequence[str | None] = (), *, fresh: bool = False
    ) -> list[float]:
        return [0.0] * len(arms)

    async def renew(self) -> None:
        await self.close(keep=False)

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        if arm.label == self._refused:
            raise EngineNotReady(f"the fake of {self._node} refuses {arm.label}")
        if self._engine is None:
            self._engine = await FakeEngine(self._dials).__aenter__()
        known = StaticProvider({arm.label: self._engine.base_url}, self._engine.model, BLOCK)
        witness = {"pid": os.getpid(), "monotonic": time.monotonic()}
        return replace(await known.serve(arm), ours=True, plan=witness)

    def locked(self, served: Served, owner: str) -> AbstractContextManager[object]:
        return nullcontext()

    def check(self, served: Served) -> None:
        """It lives as long as the process that asks."""

    async def close(self, *, keep: bool) -> list[str]:
        engine, self._engine = self._engine, None
        if engine:
            await engine.__aexit__()
        return []


class ShiftedClock(SystemClock):
    """A clock that is ahead of the machine's by so many seconds."""

    def __init__(self, ahead_s: float) -> None:
        self._ahead_s = ahead_s

    def now(self) -> float:
        return super().now() + self._ahead_s


@dataclass(frozen=True)
class Shifted:
    """ClockOf: node to how far its clock is ahead, s."""

    ahead_s: Mapping[str, float]

    def __call__(self, node: str) -> Clock:
        return ShiftedClock(self.ahead_s.get(node, 0.0))


class NotedClock(SystemClock):
    """The machine's clock; `first` is the first reading of it: a run's start."""

    first: float | None = None

    def now(self) -> float:
        now = super().now()
        self.first = now if self.first is None else self.first
        return now


class InProcess:
    """Workers without Ray, all in this process. `lost`: node to the number of its lines after which it is gone."""

    def __init__(self, nodes: Sequence[str], design: Design, recipe: Fakes, ahead_s: Mapping[str, float], **lost: int):
        self._workers = {node: Worker(node, design, recipe, Shifted(ahead_s)) for node in nodes}
        self._lost = {node.replace("_", "-"): lines for node, lines in lost.items()}
        self.killed: list[str] = []

    async def facts(self) -> dict[str, dict[str, Any]]:
        return {node: (await worker.facts())["fingerprint"] for node, worker in self._workers.items()}

    async def offset(self, node: str, clock: Clock) -> Offset:
        return await measured_offset(self._workers[node].now, clock)

    async def measured(self, node: str, order: Order) -> AsyncGenerator[Line, None]:
        taken = 0
        async for lines in self._workers[node].measure(order):
            for line in lines:
                taken += 1
                if taken > self._lost.get(node, taken):
                    await self._workers[node].stop()
                    raise NodeLost(f"{node} was lost (as planted)")
                yield line

    def kill(self, node: str) -> None:
        self.killed.append(node)


def steps_of(lines: Sequence[dict], node: str) -> list[dict]:
    """The steps of a node among a run's events."""
    return [line["step"] for line in lines if line["type"] == "step" and line["step"]["engine"].startswith(f"{node}/")]


async def until(what, seconds: float = 15.0) -> None:
    """Wait until `what()` is true. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not what():  # noqa: ASYNC110 (what is waited for sets no event)
            await asyncio.sleep(0.05)
