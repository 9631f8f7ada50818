"""Facts that the profile's plans tell: what each engine needs, which programs and how many threads it runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from labkit.core.arms import ARMS
from labkit.doctor.facts import Need, Port
from labkit.engines.accepts.interpreter import engine_python
from labkit.engines.environment import engine_environment
from labkit.engines.memory import needed_bytes
from labkit.engines.plan import make_plan
from labkit.engines.plan_records import Plan, ProcessSpec
from labkit.engines.ports import holder, is_free
from labkit.engines.profiles import Profile
from labkit.engines.registry import Engine

_BINDING = ("LABKIT_VLLM_CPU_BIND", "VLLM_CPU_OMP_THREADS_BIND")


def plans_of(profile: Profile, cores: Sequence[int]) -> list[Plan]:
    """The plans of all arms as a run would start them, in the lab's order."""
    return [make_plan(profile, arm, salted=True, cores=cores) for arm in ARMS]


def needs(plans: Sequence[Plan], engines: Sequence[Engine]) -> tuple[Need, ...]:
    """One per engine: arms that share one, by salt, stand together."""
    up = {engine.plan.key for engine in engines if engine.alive}
    by_key: dict[str, list[Plan]] = {}
    for plan in plans:
        by_key.setdefault(plan.key, []).append(plan)
    return tuple(
        Need(
            arms=tuple(plan.arm for plan in same),
            need=needed_bytes(same[0]),
            up=key in up,
        )
        for key, same in by_key.items()
    )


def missing_programs(plans: Sequence[Plan]) -> dict[str, tuple[str, ...]]:
    """Programs of the plans that are not on the PATH that an engine gets, each with the arms that run it."""
    arms: dict[str, list[str]] = {}
    for plan in plans:
        for program in dict.fromkeys(process.argv[0] for process in plan.layout if _absent(process)):
            arms.setdefault(program, []).append(plan.arm)
    return {program: tuple(having) for program, having in arms.items()}


def interpreter(profile: Profile, plans: Sequence[Plan]) -> str | None:
    """The Python that would run the engine: the plan's own, or that of its program; None: there is none here."""
    process = plans[0].layout[0]
    if not process.argv[0].startswith("python"):
        return engine_python(profile)
    return shutil.which(process.argv[0], path=engine_environment(os.environ, process.env).get("PATH"))


def _absent(process: ProcessSpec) -> bool:
    return shutil.which(process.argv[0], path=engine_environment(os.environ, process.env).get("PATH")) is None


def planned_threads(plans: Sequence[Plan], cores: int) -> dict[str, tuple[str | None, int]]:
    """`arm/role` of every engine process that is bound to CPUs, to its NUMBA_NUM_THREADS and the cores of the plan."""
    bound = [
        (f"{plan.arm}/{process.role}", process.env.get("NUMBA_NUM_THREADS"))
        for plan in plans
        for process in plan.layout
        if any(name in process.env for name in _BINDING)
    ]
    return {role: (said, cores) for role, said in bound}


def fixed_ports(profile: Profile, engines: Sequence[Engine]) -> tuple[Port, ...]:
    """The profile's fixed ports and who listens on each."""
    ours = {
        number for engine in engines if engine.status in ("up", "starting") for number in engine.plan.ports.values()
    }
    return tuple(
        Port(name=name, number=number, holder=None if is_free(number) else holder(number), ours=number in ours)
        for name, number in profile.ports.items()
    )
