"""Plans: the exact processes that a profile and an arm mean. Pure data; nothing is started to make one.

    plan = make_plan(load_profile("cpu-smollm2"), arm_named("prefix+spec"))
    for process in plan.processes:
        print(process.role, process.argv)

Two plans with the same `key` are the same engine: command lines and environment are equal, whatever the ports.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import accumulate

from labkit.core.arms import Arm
from labkit.core.errors import BadInput
from labkit.core.names import pick
from labkit.core.paths import models_dir
from labkit.engines.gpu_groups import check_groups
from labkit.engines.layout import Choice, layout
from labkit.engines.moriio.checks import check
from labkit.engines.moriio.halves import rooms
from labkit.engines.plan_records import Plan, ProcessSpec
from labkit.engines.profiles import Profile
from labkit.engines.visible_devices import check_visible

__all__ = ["Plan", "ProcessSpec", "make_plan"]

FIRST_PORT = 8201
"""Ports that a plan shows when the profile fixes none; the fleet replaces them by free ones."""


def make_plan(
    profile: Profile,
    arm: Arm,
    *,
    spec_method: str | None = None,
    ports: Mapping[str, int] | None = None,
    salted: bool = False,
    model_path: str | None = None,
    cores: Sequence[int] | None = None,
    python: str = sys.executable,
) -> Plan:
    """The plan of `arm` under `profile`.

    `spec_method`: drafter of the whole experiment (its pins go into every arm); the profile's default otherwise.
    `ports`: numbers by name, for those that should not be the profile's. `salted`: quick mode, see `Plan.salted`.
    `model_path`: a folder in place of the profile's model. `cores`: CPUs to bind to; the profile's when None.
    Raises UnknownName for a drafter that the profile has not, BadInput for an unknown port name, no cores, groups of
    GPUs that do not fit the profile's degrees or each other, and for settings that MoRI-IO or vLLM's ROCm platform
    would refuse or ignore.
    """
    methods = profile.layers.speculation.methods
    method = spec_method or profile.layers.speculation.default
    pick("spec method", method, methods, f"labkit plan --profile {profile.name} --methods")
    choice = Choice(
        arm=arm,
        method=method,
        salted=salted,
        model=model_path or _model_of(profile),
        cores=_cores(profile, cores),
        python=python,
    )
    check_groups(profile)
    processes = layout(profile, choice)
    pd = arm.pd_split
    plan = Plan(
        profile=profile.name,
        arm=arm.label,
        model=profile.model.served,
        method=method if arm.speculation else None,
        salted=salted and not arm.prefix_caching,
        layout=processes,
        ports={},
        fixed=tuple(sorted(profile.ports)),
        weights=None if model_path else profile.model.weights,
        vendor=profile.machine.vendor,
        router_first=pd and profile.layers.pd_split.router_first,
        max_startup_s=profile.engine.max_startup_s,
        expected_start_s=profile.layers.pd_split.expected_start_s if pd else profile.engine.expected_start_s,
    )
    numbers = _ports(plan.port_names, profile.ports, ports or {}, rooms(plan.layout))
    return check_visible(check(profile, plan.with_ports(numbers)))


def _model_of(profile: Profile) -> str:
    """Where the weights are, or will be once they are fetched."""
    if profile.model.path is not None:
        return profile.model.path
    return str(models_dir() / str(profile.model.weights))


def _cores(profile: Profile, cores: Sequence[int] | None) -> tuple[int, ...]:
    if not profile.engine.cores:
        return ()
    chosen = tuple(profile.engine.cores if cores is None else cores)
    if not chosen:
        raise BadInput("cores", list(chosen), "at least one CPU number")
    return chosen


def _ports(
    names: Sequence[str], fixed: Mapping[str, int], asked: Mapping[str, int], rooms: Mapping[str, int]
) -> dict[str, int]:
    """A number for every name: asked for, else fixed by the profile, else counted up, with room for its ranks."""
    for name in asked:
        if name not in names:
            raise BadInput("ports", name, ", ".join(names))
    firsts = accumulate((rooms.get(name, 1) for name in names), initial=FIRST_PORT)
    counted = dict(zip(names, firsts, strict=False))
    return {name: asked.get(name, fixed.get(name, counted[name])) for name in names}
