"""Engines for a run from the fleet: what is up is used, what is missing is started, what was started is ended.

One engine at a time: the one before is ended before the next starts, and nothing starts while an arm is measured. An
idle engine still takes processor time on a small machine, so no engine of this run stands beside the one that is
measured. Engines that were up before the run are used and left alone, and named beside every arm that they stood by; so
is one that somebody asked for with `labkit up` while the run used it. Arms that can share an engine do, unless the run
wants a new start for each block (`renew`).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any

from labkit.core.arms import Arm
from labkit.core.errors import EngineBusy, EngineDied, EngineError, PortInUse, UnknownName
from labkit.core.progress import OnProgress, silent
from labkit.engines.fleet import Fleet
from labkit.engines.machine import usable_cores
from labkit.engines.moriio.old_variables import shell_remarks
from labkit.engines.plan import Plan, make_plan
from labkit.engines.profiles import Profile
from labkit.engines.registry import Engine
from labkit.experiments.fingerprint import fingerprint
from labkit.experiments.serving import Served, SwitchedBy

_LOG_LINES = 20
_STARTS = 3
"""So often is an engine started whose port somebody took between its choice and its use."""


class FleetProvider:
    """EngineProvider over the fleet.

    Not `strict`: servers run with prefix caching on, and an arm without it is salted per request, so that the two share
    an engine. `strict`: the server's own flag, one engine per arm.
    """

    def __init__(self, fleet: Fleet, profile: Profile, *, spec_method: str | None = None, strict: bool = False) -> None:
        self._fleet, self._profile = fleet, profile
        self._spec_method, self._strict = spec_method, strict
        self._current: Engine | None = None
        self._started: dict[str, Engine] = {}
        self._refused: dict[str, EngineError] = {}
        self._trouble: list[str] = []
        self._said: list[str] = []
        self._renewing = False

    def plan(self, arm: Arm, spec_method: str | None = None) -> Plan:
        """The plan of this arm on this machine's cores. Raises UnknownName for a drafter that the profile has not."""
        method = spec_method or self._spec_method
        return make_plan(self._profile, arm, spec_method=method, salted=not self._strict, cores=usable_cores())

    def fingerprint(self, arms: Sequence[Arm]) -> dict[str, Any]:
        return fingerprint(self._profile, [self.plan(arm) for arm in arms])

    def starts(
        self, arms: Sequence[Arm], spec_methods: Sequence[str | None] = (), *, fresh: bool = False
    ) -> list[float]:
        methods = spec_methods or [None] * len(arms)
        plans = [self.plan(arm, method) for arm, method in zip(arms, methods, strict=True)]
        same = [False, *(one.key == other.key and not fresh for one, other in pairwise(plans))]
        up = [self._fleet.find(plan) is not None for plan in plans]
        return [
            0.0 if kept or found else self._fleet.expected_s(plan)
            for plan, kept, found in zip(plans, same, up, strict=True)
        ]

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        plan = self.plan(arm, spec_method)
        engine = self._fleet.find(plan)
        if self._current and (engine is None or engine.id != self._current.id):
            await self._end(self._current)
        engine = await self._start(plan, on_progress) if engine is None else await self._found(engine)
        self._current = engine
        return self._served(engine, arm)

    async def _found(self, engine: Engine) -> Engine:
        """One that is up. Raises EngineNotReady when its router has lost it."""
        if self._renewing:
            self._trouble.append(f"engine {engine.id} is not this run's to end, so its blocks are one start of it")
        return await self._fleet.registered(engine)

    async def renew(self) -> None:
        self._renewing = True
        if self._current:
            await self._end(self._current)

    async def _start(self, plan: Plan, on_progress: OnProgress) -> Engine:
        """Start it; what was refused once in this run is not tried again for the arm that would share it."""
        if plan.key in self._refused:
            raise self._refused[plan.key]
        try:
            engine = await self._up(plan, on_progress)
        except EngineError as error:
            self._refused[plan.key] = error
            raise
        if engine.owner.pid == os.getpid():  # else another run was starting it, and ends it
            self._started[engine.id] = engine
        return engine

    async def _up(self, plan: Plan, on_progress: OnProgress) -> Engine:
        """Start it; again, with other ports, when one was taken meanwhile. Raises EngineError."""
        self._trouble = []
        while True:
            try:
                return await self._fleet.up(plan, on_progress, adopt=False)
            except PortInUse as error:
                if len(self._trouble) == _STARTS - 1 or set(plan.port_names) <= set(plan.fixed):
                    raise
                self._trouble.append(f"its engine was started again with other ports: {error.message}")

    def _served(self, engine: Engine, arm: Arm) -> Served:
        salted = not self._strict and not arm.prefix_caching
        switched_by: SwitchedBy = "salt" if salted else "flag"
        flags = self._profile.engine.flags
        block_size = flags.get("block-size", flags.get("page-size"))  # SGLang's name
        trouble, self._trouble = [*self._trouble, *self._of_shell(engine.plan)], []
        return Served(
            engine=engine.id,
            base_url=engine.base_url,
            model=engine.model,
            switched_by=switched_by,
            metrics=engine.metrics_urls,
            block_size=int(block_size) if isinstance(block_size, int) else None,
            logs={process.role: process.log for process in engine.processes},
            pids=tuple(process.pid for process in engine.processes),
            plan=engine.plan.to_dict(),
            ours=engine.id in self._started,
            neighbours=tuple(other.id for other in self._fleet.ps() if other.alive and other.id != engine.id),
            trouble=tuple(trouble),
        )

    def _of_shell(self, plan: Plan) -> list[str]:
        """What the shell says of such an engine in vain; once in a run."""
        said = [words for words in shell_remarks(plan, os.environ) if words not in self._said]
        self._said += said
        return said

    def locked(self, served: Served, owner: str) -> AbstractContextManager[object]:
        return self._fleet.lock(self._get(served), owner)

    def _get(self, served: Served) -> Engine:
        try:
            return self._fleet.get(served.engine)
        except UnknownName:
            raise EngineDied(
                f"engine {served.engine} was ended by somebody while it was measured",
                "Was it `labkit down --force`? Leave the engines alone until the run is done.",
            ) from None

    def check(self, served: Served) -> None:
        engine = self._get(served)
        if engine.dead_roles:
            role = engine.dead_roles[0]
            log = self._fleet.log_tail(engine, role, _LOG_LINES)
            raise EngineDied(f"{role} of {engine.id} ended while it was measured", "Its log says why.", tuple(log))

    async def close(self, *, keep: bool) -> list[str]:
        for engine in list(self._started.values()):
            if keep and engine == self._current:
                self._fleet.adopt(engine)
            else:
                await self._end(engine)
        return list(self._started)

    async def _end(self, engine: Engine) -> None:
        """End an engine of this run; others' are left alone. In a thread: the grace that it gets blocks."""
        if engine.id not in self._started or self._fleet.adopted(engine):
            return
        try:
            await asyncio.to_thread(self._fleet.down, engine.id)
        except EngineBusy:  # another run uses it by now
            return
        except UnknownName:  # somebody has ended it
            pass
        del self._started[engine.id]
