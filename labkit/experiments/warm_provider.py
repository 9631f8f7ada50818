"""Engines of a run kept up side by side, so that going from one arm to another takes no start.

As many as there is memory for: when the next one would not fit, the one that served longest ago is ended first. An idle
engine still takes processor time on a small machine; whoever measures beside one has to say so (`Served.neighbours`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager

from labkit.core.arms import Arm
from labkit.core.errors import NotEnoughMemory
from labkit.core.progress import OnProgress, Progress, silent
from labkit.engines.memory import require_memory
from labkit.engines.plan import Plan
from labkit.engines.registry import Engine
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.serving import Served

Leaving = Callable[[str], Awaitable[None]]


async def _nobody(_: str) -> None:
    """Nobody holds anything of it."""


class WarmProvider(FleetProvider):
    """FleetProvider whose engines stay up until the run ends, or until their memory is needed.

    `leaving`: told the id of an engine before it is ended for its memory, to let go of it. An arm that was refused is
    tried again when it is asked for again.
    """

    leaving: Leaving = staticmethod(_nobody)
    _holder: str | None = None
    """What this run signs its engines' locks with."""

    def locked(self, served: Served, owner: str) -> AbstractContextManager[object]:
        self._holder = owner
        return super().locked(served, owner)

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        plan = self.plan(arm, spec_method)
        self._refused.pop(plan.key, None)
        engine = self._fleet.find(plan) or await self._start(plan, on_progress)
        self._current = engine
        if engine.id in self._started:  # the last used stands last
            self._started[engine.id] = self._started.pop(engine.id)
        return self._served(engine, arm)

    async def _up(self, plan: Plan, on_progress: OnProgress) -> Engine:
        """Start it; as long as there is no memory for it, end what served longest ago. Raises EngineError."""
        while True:
            try:
                return await super()._up(plan, on_progress)
            except NotEnoughMemory:
                if not await self._make_room(plan, on_progress):
                    raise

    async def _make_room(self, plan: Plan, on_progress: OnProgress) -> bool:
        """End one engine of this run; False when none can be. Raises NotEnoughMemory when all would not be enough."""
        ours = [engine for engine in self._started.values() if self._may_end(engine)]
        memory = sum(process.memory_bytes for engine in ours for process in engine.plan.layout)
        others = [engine for engine in self._fleet.ps() if engine not in ours]
        require_memory(plan, self._fleet.free() + memory, others)
        for engine in ours:
            on_progress(Progress(stage=f"starting {plan.arm}", message=f"ending {engine.plan.arm} for its memory"))
            await self.leaving(engine.id)
            await self._end(engine)
            if engine.id not in self._started:
                return True
        return False

    def _may_end(self, engine: Engine) -> bool:
        """Whether nobody else uses an engine of this run by now, or wants it to stay up."""
        return not self._fleet.adopted(engine) and self._fleet.holder(engine) in (None, self._holder)
