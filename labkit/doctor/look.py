"""One look at the machine, whatever the profile: what several profiles are judged by is read once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

import psutil

from labkit.core.clock import SystemClock
from labkit.core.errors import EngineError
from labkit.doctor import hub, machine
from labkit.doctor.busy import load
from labkit.doctor.facts import ClockFacts, EngineFact, Gpus, Load, Processor
from labkit.doctor.node.reading import node
from labkit.doctor.node.records import Node
from labkit.engines.environment import STEERING
from labkit.engines.fleet import Fleet
from labkit.engines.installed import Installation, installation
from labkit.engines.machine import usable_cores
from labkit.engines.memory import free_bytes, total_bytes
from labkit.engines.registry import Engine
from labkit.store.fingerprint import host_fingerprint

WINDOW_S = 0.5
"""How long other processes are watched: fifty ticks of the kernel's accounting."""


@dataclass(kw_only=True)
class Look:
    """A machine at one moment. What only some profiles ask for is asked once, at the first that does."""

    system: str
    machine: str
    cores: tuple[int, ...]
    processor: Processor
    memory_total: int
    memory_free: int
    shm_free: int | None
    libnuma: bool
    load: Load
    clock: ClockFacts
    gpus: Gpus
    node: Node
    running: tuple[Engine, ...]
    engines: tuple[EngineFact, ...]
    steering: tuple[str, ...]
    hub_token: bool
    took_s: float
    _installed: dict[str, Installation | str] = field(default_factory=dict)
    _hubs: dict[str, str] = field(default_factory=dict)

    def installation(self, python: str) -> Installation | str:
        """What this interpreter has, or why it does not tell."""
        if python not in self._installed:
            try:
                self._installed[python] = installation(python)
            except EngineError as error:
                self._installed[python] = error.message
        return self._installed[python]

    def hub(self, endpoint: str) -> str:
        """Why the hub does not answer; empty when it does."""
        if endpoint not in self._hubs:
            self._hubs[endpoint] = hub.answers(endpoint)
        return self._hubs[endpoint]


def look(fleet: Fleet | None = None) -> Look:
    """This machine, in about half a second; nothing is started and nothing is changed."""
    fleet, clock = fleet or Fleet(), SystemClock()
    began = clock.now()
    running, cores, host = fleet.ps(), usable_cores(), host_fingerprint()
    pids = {process.pid: engine.id for engine in running for process in engine.processes}
    return Look(
        system=host["os"],
        machine=host["machine"],
        cores=tuple(cores),
        processor=_processor(host["cpu"], cores),
        memory_total=total_bytes(),
        memory_free=free_bytes(),
        shm_free=machine.shm_free(),
        libnuma=machine.loads("libnuma.so.1"),
        load=load(WINDOW_S, pids),
        clock=machine.clock_facts(),
        gpus=machine.gpus(),
        node=node(pids),
        running=tuple(running),
        engines=tuple(_engine(fleet, engine) for engine in running),
        steering=tuple(sorted(name for name in os.environ if name.startswith(STEERING) and _tells(name))),
        hub_token=machine.has_hub_token(),
        took_s=clock.now() - began,
    )


def _tells(name: str) -> bool:
    """Whether a variable that engines do not get is worth naming: the lab's own are not."""
    return not name.startswith(("LABKIT_", "PYTEST_", "PYTHON"))


def _processor(cpu: dict[str, object], cores: Sequence[int]) -> Processor:
    flags = cpu.get("flags")
    return Processor(
        model=str(cpu["model"]) if cpu.get("model") else None,
        threads=psutil.cpu_count() or len(cores),
        usable=tuple(cores),
        quota=machine.quota(),
        governors=machine.governors(cores),
        flags=tuple(flags) if isinstance(flags, list) else None,
    )


def _engine(fleet: Fleet, engine: Engine) -> EngineFact:
    return EngineFact(
        id=engine.id,
        arm=engine.plan.arm,
        status=engine.status,
        left=fleet.left(engine),
        holder=fleet.holder(engine),
    )
