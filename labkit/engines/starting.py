"""The start of one engine: processes in the right order, each registered the moment it exists, and nothing left behind.

Prefill and decode (or replicas) start together. A router starts after them; one that they must announce themselves to
starts before them, and the start is over only when it has heard of both.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace

import psutil

from labkit.core.clock import Clock
from labkit.core.progress import OnProgress, Progress
from labkit.engines.environment import engine_environment
from labkit.engines.health import prove, require_alive, wait_healthy
from labkit.engines.moriio.halves import discovers
from labkit.engines.moriio.registration import wait_registered
from labkit.engines.plan_records import Plan, ProcessSpec
from labkit.engines.process import ProcessState, end_groups, spawn
from labkit.engines.registry import Engine, Registry, with_process


class Start:
    """One start in progress. After an error or a cancellation no process of it is left."""

    def __init__(
        self, plan: Plan, registry: Registry, clock: Clock, expected_s: float, on_progress: OnProgress
    ) -> None:
        self._registry, self._clock = registry, clock
        self._expected_s, self._on_progress = expected_s, on_progress
        self._began = clock.now()
        self._deadline = self._began + plan.max_startup_s
        self.engine = Engine(id=_new_id(plan), plan=plan, processes=(), owner=this_process())

    @property
    def seconds(self) -> float:
        """Since the start began."""
        return self._clock.now() - self._began

    async def run(self) -> Engine:
        """Bring the engine up. Raises EngineDied or EngineNotReady."""
        try:
            for stage in _stages(self.engine.plan):
                await self._wait(stage, [self._spawn(spec) for spec in stage])
            await self._registered()
            await self._prove()
            self._register(replace(self.engine, ready=True))
        except BaseException:
            end_groups(self.engine.processes)
            self._registry.forget(self.engine)
            raise
        return self.engine

    async def _wait(self, stage: tuple[ProcessSpec, ...], started: list[ProcessState]) -> None:
        """Until they serve. A router that waits for engines to register is not healthy without them: it must live."""
        router, waits = stage[0].role == "router", discovers(self.engine.plan)
        if self.engine.plan.router_first and router and not waits:
            return
        path = "/liveness" if router and waits else "/health"
        alive = self.engine.processes
        await wait_healthy(started, self._clock, self._deadline, self._tick(stage), path=path, alive=alive)

    async def _registered(self) -> None:
        """A router with discovery answers 503 until both engines have announced themselves."""
        if not discovers(self.engine.plan):
            return

        def waits(missing: Sequence[str]) -> None:
            require_alive(self.engine.processes)
            self._say(f"waiting for {' and '.join(missing)} to register with the router")

        await wait_registered(self.engine.process("router"), self._clock, waits)

    async def _prove(self) -> None:
        engine = self.engine
        tick = self._tick((engine.plan.entry,), "first token through ")
        await prove(engine.base_url, engine.model, engine.processes, self._clock, self._deadline, tick)

    def _spawn(self, spec: ProcessSpec) -> ProcessState:
        folder = self._registry.engine_folder(self.engine.id)
        state = spawn(
            spec.argv,
            engine_environment(os.environ, spec.env),
            folder / f"{spec.role}.log",
            role=spec.role,
            port=spec.port,
            metrics=spec.metrics,
        )
        self._register(with_process(self.engine, state))
        return state

    def _register(self, engine: Engine) -> None:
        self.engine = engine
        self._registry.write(engine)

    def _tick(self, stage: tuple[ProcessSpec, ...], what: str = "") -> Callable[[], None]:
        roles = what + " and ".join(spec.role for spec in stage)
        return lambda: self._say(roles)

    def _say(self, what: str) -> None:
        left = max(0.0, self._expected_s - self.seconds)
        message = f"starting ({self.seconds:.0f} s of ~{self._expected_s:.0f} s): {what}"
        stage = f"starting {self.engine.plan.arm}"
        self._on_progress(Progress(stage=stage, message=message, done=self.seconds, total=self._expected_s, eta_s=left))


def this_process() -> ProcessState:
    """The interpreter that runs this, as an owner."""
    return ProcessState(role="owner", pid=os.getpid(), created=psutil.Process().create_time())


def _stages(plan: Plan) -> list[tuple[ProcessSpec, ...]]:
    engines = tuple(spec for spec in plan.processes if spec.role != "router")
    routers = tuple(spec for spec in plan.processes if spec.role == "router")
    stages = [routers, engines] if plan.router_first else [engines, routers]
    return [stage for stage in stages if stage]


def _new_id(plan: Plan) -> str:
    return f"{plan.profile}.{plan.arm.replace('+', '-')}.{uuid.uuid4().hex[:4]}"
