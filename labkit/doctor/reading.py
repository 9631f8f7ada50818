"""Reading the machine: every fact that the checks judge, in about a second. Nothing is started, nothing is changed."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import psutil

from labkit.core.clock import Clock, SystemClock
from labkit.core.errors import BadInput, WeightsError
from labkit.core.paths import models_dir, runs_dir, state_dir
from labkit.doctor import machine
from labkit.doctor.busy import load
from labkit.doctor.facts import Disk, EngineFact, Facts, Package, Processor, Weights
from labkit.doctor.facts_of_plans import fixed_ports, missing_programs, needs, planned_threads, plans_of
from labkit.doctor.versions import installed, python_of, wanted_of
from labkit.engines import weights
from labkit.engines.environment import STEERING
from labkit.engines.fleet import Fleet
from labkit.engines.machine import usable_cores
from labkit.engines.memory import free_bytes, total_bytes
from labkit.engines.profiles import Profile, load_profile
from labkit.engines.registry import Engine
from labkit.store.fingerprint import host_fingerprint

WINDOW_S = 0.5
"""How long other processes are watched: fifty ticks of the kernel's accounting."""
_GIB = 1 << 30
_RUN_BYTES, _STATE_BYTES = _GIB // 4, _GIB // 16
"""What a long run and a day of logs take at most, measured: 40 MB and 5 MB."""


def facts(
    profile_name: str, *, thorough: bool = False, fleet: Fleet | None = None, clock: Clock | None = None
) -> Facts:
    """This machine under a profile. `thorough`: compare every byte of the weights, too (seconds for large ones).

    Raises UnknownName and BadInput for the profile.
    """
    clock = clock or SystemClock()
    began, profile, cores = clock.now(), load_profile(profile_name), usable_cores()
    fleet = fleet or Fleet()
    engines, plans = fleet.ps(), plans_of(profile, cores)
    host, model = host_fingerprint(), _weights(profile, thorough)
    return Facts(
        profile=profile,
        python=platform.python_version(),
        python_wanted=python_of("labkit"),
        system=host["os"],
        machine=host["machine"],
        processor=_processor(host["cpu"], cores),
        memory_total=total_bytes(),
        memory_free=free_bytes(),
        disks=_disks(model),
        shm_free=machine.shm_free(),
        packages=_packages(profile),
        missing=missing_programs(plans),
        libnuma=machine.loads("libnuma.so.1"),
        weights=model,
        ports=fixed_ports(profile, engines),
        load=load(WINDOW_S, {process.pid: engine.id for engine in engines for process in engine.processes}),
        clock=machine.clock_facts(),
        gpus=machine.gpus(),
        engines=tuple(_engine(fleet, engine) for engine in engines),
        needs=needs(plans, engines),
        planned_threads=planned_threads(plans, len(cores)),
        steering=tuple(sorted(name for name in os.environ if name.startswith(STEERING) and _tells(name))),
        hub_token=machine.has_hub_token(),
        took_s=clock.now() - began,
        checked=clock.wall().isoformat(timespec="seconds"),
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


def _weights(profile: Profile, thorough: bool) -> Weights:
    name = profile.model.weights or str(profile.model.path)
    try:
        weights.path(name, verify=thorough)
    except (WeightsError, BadInput) as error:
        return Weights(name=name, problem=error.message, checksums=thorough)
    return Weights(name=name, checksums=thorough)


def _disks(model: Weights) -> tuple[Disk, ...]:
    known = {info.name: info for info in weights.list_models()}
    to_fetch = 2 * known[model.name].disk_mb * 1_000_000 if model.problem and model.name in known else 0
    wanted = (
        ("runs", "LABKIT_RUNS", runs_dir(), _RUN_BYTES),
        ("models", "LABKIT_MODELS", models_dir(), to_fetch),
        ("state and logs", "LABKIT_STATE", state_dir(), _STATE_BYTES),
    )
    return tuple(_disk(*each) for each in wanted)


def _disk(what: str, variable: str, path: Path, needed: int) -> Disk:
    return Disk(what=what, variable=variable, path=str(path), needs=needed, free=machine.disk_free(path))


def _packages(profile: Profile) -> tuple[Package, ...]:
    """What the lab declares for this kind of profile; the engine of a GPU image brings its own vLLM."""
    of_engine = {"python": ["cpu"], "vllm": []}[profile.engine.command]
    if profile.layers.pd_split.transfer == "moriio":
        of_engine = [*of_engine, "amd"]
    wanted = wanted_of("labkit", ["app", *of_engine])
    return tuple(Package(name=name, wanted=versions, installed=installed(name)) for name, versions in wanted)


def _engine(fleet: Fleet, engine: Engine) -> EngineFact:
    return EngineFact(
        id=engine.id,
        arm=engine.plan.arm,
        status=engine.status,
        left=fleet.left(engine),
        holder=fleet.holder(engine),
    )
