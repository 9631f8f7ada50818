"""Reading the machine under a profile: every fact that the checks judge, in about a second. Nothing is started."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from labkit.core.clock import SystemClock
from labkit.core.paths import models_dir, runs_dir, state_dir
from labkit.doctor import machine
from labkit.doctor.drafter_facts import drafter_facts
from labkit.doctor.facts import Disk, Facts, Package, Weights
from labkit.doctor.facts_of_plans import fixed_ports, interpreter, missing_programs, needs, planned_threads, plans_of
from labkit.doctor.look import Look, look
from labkit.doctor.model_facts import model_facts
from labkit.doctor.versions import installed, python_of, wanted_of
from labkit.engines import weights
from labkit.engines.environment import engine_environment
from labkit.engines.fleet import Fleet
from labkit.engines.installed import Installation
from labkit.engines.plan_records import Plan
from labkit.engines.profiles import Profile, load_profile

_GIB = 1 << 30
_RUN_BYTES, _STATE_BYTES = _GIB // 4, _GIB // 16
"""What a long run and a day of logs take at most, measured: 40 MB and 5 MB."""
_EXTRAS = {"python": ["cpu"], "vllm": [], "sglang": []}
"""What the lab declares for an engine, by its command; the engine of a GPU image brings its own."""


def facts(profile_name: str, *, thorough: bool = False, fleet: Fleet | None = None) -> Facts:
    """This machine under a profile. `thorough`: compare every byte of the weights, too (seconds for large ones).

    Raises UnknownName and BadInput for the profile.
    """
    profile, seen = load_profile(profile_name), look(fleet)
    return facts_of(profile, seen, thorough=thorough)


def facts_of(profile: Profile, seen: Look, *, thorough: bool = False, chosen: bool = True) -> Facts:
    """What has been seen of the machine, with what this profile asks of it.

    `chosen`: somebody asked for this profile; of others the hub is asked only where their GPUs are.
    """
    clock = SystemClock()
    began, plans = clock.now(), plans_of(profile, seen.cores)
    environ = engine_environment(os.environ, profile.engine.env)
    model = model_facts(profile, seen, environ, thorough=thorough, chosen=chosen)
    has, unasked = _installation(profile, plans, seen)
    return Facts(
        profile=profile,
        python=platform.python_version(),
        python_wanted=python_of("labkit"),
        system=seen.system,
        machine=seen.machine,
        processor=seen.processor,
        memory_total=seen.memory_total,
        memory_free=seen.memory_free,
        disks=_disks(model),
        shm_free=seen.shm_free,
        packages=_packages(profile),
        missing=missing_programs(plans),
        libnuma=seen.libnuma,
        weights=model,
        drafters=drafter_facts(profile, seen, environ, chosen=chosen),
        ports=fixed_ports(profile, seen.running),
        load=seen.load,
        clock=seen.clock,
        gpus=seen.gpus,
        engines=seen.engines,
        needs=needs(plans, seen.running),
        planned_threads=planned_threads(plans, len(seen.cores)),
        steering=seen.steering,
        hub_token=seen.hub_token,
        node=seen.node,
        installation=has,
        unasked=unasked,
        took_s=seen.took_s + clock.now() - began,
        checked=clock.wall().isoformat(timespec="seconds"),
    )


def _installation(profile: Profile, plans: Sequence[Plan], seen: Look) -> tuple[Installation | None, str]:
    """Of the Python that would run the engine; a CPU profile's is this one, whose packages are compared as they are."""
    if profile.machine.vendor == "cpu":
        return None, ""
    python = interpreter(profile, plans)
    if python is None:
        return None, f"`{plans[0].layout[0].argv[0]}` is not on PATH, or is no Python script"
    has = seen.installation(python)
    return (None, has) if isinstance(has, str) else (has, "")


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
    """What the lab declares for this kind of profile, in its own Python; the engine of a GPU image brings its own."""
    of_engine = _EXTRAS[profile.engine.command]
    if profile.machine.vendor == "amd":
        of_engine = [*of_engine, "amd"]
    wanted = wanted_of("labkit", ["app", *of_engine])
    return tuple(Package(name=name, wanted=versions, installed=installed(name)) for name, versions in wanted)
