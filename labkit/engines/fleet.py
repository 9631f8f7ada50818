"""The fleet: engines that are up on this machine, shared by CLI, notebooks, dashboard and runs.

fleet = Fleet()
engine = await fleet.up(plan)          # starts it, or finds the one that is already up
with fleet.lock(engine, "replay 7f3a"):
    ...                                # one run at a time
fleet.down(engine.id)
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import EngineBusy
from labkit.core.names import unknown
from labkit.core.paths import state_dir as default_state_dir
from labkit.core.progress import OnProgress, Progress, silent
from labkit.engines import weights
from labkit.engines.fixed_ports import require_fixed_free
from labkit.engines.gpus_here import device_missing, require_gpus
from labkit.engines.logs import tail
from labkit.engines.memory import free_bytes, require_memory
from labkit.engines.moriio.halves import discovers, rooms
from labkit.engines.moriio.registration import require_registered
from labkit.engines.plan_records import Plan
from labkit.engines.ports import free_ports
from labkit.engines.process import end_groups, is_alive
from labkit.engines.programs import require_programs
from labkit.engines.registry import Engine, Registry
from labkit.engines.run_lock import held, holder
from labkit.engines.start_times import StartTimes
from labkit.engines.starting import Start

_POLL_S = 0.5


class Fleet:
    """The engines registered under `state_dir` (the user's, when None).

    `free`: bytes that a new engine can take. `device_missing`: of a vendor, the device file that its GPUs have and this
    machine has not; empty when there is one.
    """

    def __init__(
        self,
        state_dir: Path | None = None,
        clock: Clock | None = None,
        free: Callable[[], int] = free_bytes,
        device_missing: Callable[[str], str] = device_missing,
    ) -> None:
        self.state_dir = state_dir or default_state_dir()
        self.free = free
        self._device_missing = device_missing
        self._clock = clock or SystemClock()
        self._registry = Registry(self.state_dir)
        self._times = StartTimes(self.state_dir)

    async def up(self, plan: Plan, on_progress: OnProgress = silent, *, adopt: bool = True) -> Engine:
        """The engine of this plan: the one that is up, the one that somebody is starting, or a new one.

        It stays up until `down`; with `adopt`, one that a run started does so too, and the run no longer ends it.
        Raises WeightsError, NotEnoughMemory, PortInUse, EngineDied, EngineNotReady, or EngineError for GPUs or programs
        that this machine has not; nothing that it started is left running then.
        """
        async with self._start_lock(plan, on_progress):
            found = self.find(plan)
            engine = await self._start(plan, on_progress) if found is None else await self.registered(found)
            if adopt:
                self._registry.adopt(engine)
            return engine

    def adopt(self, engine: Engine) -> None:
        """Note that `engine` is to stay up when its starter ends."""
        self._registry.adopt(engine)

    def adopted(self, engine: Engine) -> bool:
        """Whether it is meant to stay up, by `up` or by the run that kept it: it is not its starter's to end."""
        return self._registry.adopted(engine)

    def left(self, engine: Engine) -> bool:
        """Whether it is up although whoever started it, and was to end it, is gone: a killed run's engine."""
        return engine.status == "up" and not is_alive(engine.owner) and not self.adopted(engine)

    async def _start(self, plan: Plan, on_progress: OnProgress) -> Engine:
        require_gpus(plan, self._device_missing(plan.vendor))
        require_programs(plan)
        if plan.weights is not None:
            weights.path(plan.weights)
        engines = self.ps()
        require_memory(plan, self.free(), engines)
        require_fixed_free(plan, engines)
        free = free_ports((name for name in plan.port_names if name not in plan.fixed), rooms(plan.layout))
        start = Start(
            plan.with_ports({**plan.ports, **free}), self._registry, self._clock, self.expected_s(plan), on_progress
        )
        engine = await start.run()
        self._times.learn(plan.key, start.seconds)
        return engine

    async def registered(self, engine: Engine) -> Engine:
        """`engine`, when a router that its processes must announce themselves to knows them: alive is not enough.

        Raises EngineNotReady.
        """
        if discovers(engine.plan):
            await require_registered(engine.process("router"), self._clock, engine.id)
        return engine

    def expected_s(self, plan: Plan) -> float:
        """Seconds that a start of this plan takes: as learned here, else the profile's."""
        return self._times.expected(plan.key, plan.expected_start_s)

    def ps(self) -> list[Engine]:
        """Every registered engine, oldest first; `status` says what became of it."""
        return self._registry.read_all()

    def find(self, plan: Plan) -> Engine | None:
        """An engine that is up with the same command lines and environment, whatever its ports."""
        return next((engine for engine in self.ps() if engine.plan.key == plan.key and engine.alive), None)

    def get(self, engine_id: str) -> Engine:
        """The engine with this id, or with the only id that contains it. Raises UnknownName."""
        engines = self.ps()
        matches = [engine for engine in engines if engine.id == engine_id] or [
            engine for engine in engines if engine_id in engine.id
        ]
        if len(matches) == 1:
            return matches[0]
        raise unknown("engine", engine_id, [engine.id for engine in matches or engines], "labkit ps")

    def down(self, engine_id: str | None = None, force: bool = False) -> list[Engine]:
        """End one engine, or all of them, and whatever a crash left behind. Returns what was ended or cleaned up.

        Raises EngineBusy, and ends none, when a run holds one of them; `force` ends it under that run.
        """
        engines = self.ps() if engine_id is None else [self.get(engine_id)]
        if not force:
            self._require_free(engines)
        end_groups(process for engine in engines for process in engine.processes)
        for engine in engines:
            self._registry.forget(engine)
        return engines

    def _require_free(self, engines: list[Engine]) -> None:
        for engine in engines:
            if owner := self.holder(engine):
                raise EngineBusy(
                    f"engine {engine.id} is held by {owner}",
                    f"Stop that run, or: labkit down {engine.id} --force",
                )

    @contextlib.contextmanager
    def lock(self, engine: Engine, owner: str) -> Iterator[Engine]:
        """Hold `engine` for one run. `owner` is shown to whoever comes second, who gets EngineBusy at once."""
        with held(self._registry.engine_folder(engine.id), engine.id, owner):
            yield engine

    def holder(self, engine: Engine) -> str | None:
        """Who holds `engine`, as they named themselves; None when it is free."""
        return holder(self._registry.engine_folder(engine.id))

    def log_tail(self, engine: Engine, role: str, lines: int = 40) -> list[str]:
        """The last lines that one process wrote, oldest first. Raises UnknownName for a role that it has not."""
        return tail(Path(engine.process(role).log), lines)

    @contextlib.asynccontextmanager
    async def _start_lock(self, plan: Plan, on_progress: OnProgress) -> AsyncIterator[None]:
        """Two who want the same plan do not start it twice: the second waits and then finds it."""
        self.state_dir.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.state_dir / f"start-{plan.key}.lock", thread_local=False)
        began = self._clock.now()
        while True:
            try:
                lock.acquire(timeout=0)
                break
            except Timeout:
                waited = self._clock.now() - began
                on_progress(
                    Progress(stage=f"starting {plan.arm}", message="another process is starting it", done=waited)
                )
                await asyncio.sleep(_POLL_S)
        try:
            yield
        finally:
            lock.release()
