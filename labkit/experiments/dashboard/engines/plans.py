"""What would be started, to read and to copy; and what differs from another arm: the layer, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labkit.core.arms import LAYERS, Arm, Layer, arm_named
from labkit.engines.machine import usable_cores
from labkit.engines.memory import needed_bytes
from labkit.engines.plan import make_plan
from labkit.engines.plan_diff import LAYER_SETTINGS, Difference, diff
from labkit.engines.plan_records import Plan
from labkit.engines.plan_text import command_text
from labkit.engines.profiles import load_profile

_IN_WORDS: dict[Layer, str] = {
    "prefix_caching": "prefix caching",
    "pd_split": "the prefill/decode split",
    "speculation": "speculation",
}


@dataclass(frozen=True, kw_only=True)
class PlannedProcess:
    """One process. `ports`: the others that it opens or is told of; `memory`: host bytes that it needs."""

    role: str
    port: int
    ports: tuple[tuple[str, int], ...]
    command: str
    memory: int


@dataclass(frozen=True, kw_only=True)
class PlanView:
    """A plan. `command`: the same from a terminal; `note`: what the numbers are worth, in words."""

    profile: str
    title: str
    arm: str
    key: str
    processes: tuple[PlannedProcess, ...]
    command: str
    note: str
    memory: int
    expected_s: float


@dataclass(frozen=True, kw_only=True)
class DiffView:
    """What differs between two arms. `rows`: role, setting, value left, value right; `words`: whose doing it is."""

    left: str
    right: str
    rows: tuple[Difference, ...]
    words: str
    fair: bool
    command: str


def methods_of(profile: str) -> dict[str, str]:
    """Drafter to what it does, the profile's default first."""
    speculation = load_profile(profile).layers.speculation
    names = sorted(speculation.methods, key=lambda name: name != speculation.default)
    return {name: speculation.methods[name].about for name in names}


def plan_view(profile: str, arm: str, method: str | None = None, *, salted: bool = False) -> PlanView:
    """The plan of an arm on this machine; nothing is started, and the hardware need not be here.

    Raises UnknownName.
    """
    plan = _plan(profile, arm, method, salted)
    return PlanView(
        profile=plan.profile,
        title=load_profile(profile).title,
        arm=arm,
        key=plan.key,
        processes=tuple(_process(plan, n) for n in range(len(plan.layout))),
        command=_command(profile, arm, method, salted),
        note=_note(plan),
        memory=needed_bytes(plan),
        expected_s=plan.expected_start_s,
    )


def diff_view(profile: str, arm: str, other: str, method: str | None = None, *, salted: bool = False) -> DiffView:
    """What differs between the plans of `other` (left) and `arm` (right). Raises UnknownName."""
    rows = diff(_plan(profile, other, method, salted), _plan(profile, arm, method, salted))
    strangers = _strangers(rows, arm_named(arm), arm_named(other))
    return DiffView(
        left=other,
        right=arm,
        rows=tuple(rows),
        words=_diff_words(rows, strangers, arm, other),
        fair=not strangers,
        command=f"{_command(profile, arm, method, salted)} --diff {other}",
    )


def _plan(profile: str, arm: str, method: str | None, salted: bool) -> Plan:
    return make_plan(load_profile(profile), arm_named(arm), spec_method=method, salted=salted, cores=usable_cores())


def _process(plan: Plan, index: int) -> PlannedProcess:
    shape, filled = plan.layout[index], plan.processes[index]
    others = tuple((name, plan.ports[name]) for name in shape.port_names if name != shape.role)
    return PlannedProcess(
        role=filled.role,
        port=filled.port,
        ports=others,
        command=command_text(filled),
        memory=filled.memory_bytes,
    )


def _command(profile: str, arm: str, method: str | None, salted: bool) -> str:
    words = ["labkit plan", f"--profile {profile}", f"--arm {arm}"]
    return " ".join([*words, *([f"--spec-method {method}"] if method else []), *(["--salted"] if salted else [])])


def _note(plan: Plan) -> str:
    free = [name for name in plan.port_names if name not in plan.fixed]
    ports = "Ports are the profile's." if not free else "Ports are examples: a start takes free ones."
    if plan.fixed and free:
        ports = f"Fixed by the profile: {', '.join(plan.fixed)}; the other ports are examples."
    salt = " Prefixes are cached here, and a fresh cache_salt on every request keeps them from being found."
    return ports + salt * plan.salted


def _strangers(rows: Sequence[Difference], one: Arm, other: Arm) -> list[str]:
    """Settings that differ and belong to no layer in which the two arms differ; the router belongs to the split."""
    layers = set(one.layers) ^ set(other.layers)
    allowed = frozenset().union(*(LAYER_SETTINGS[layer] for layer in layers)) if layers else frozenset()
    split = "pd_split" in layers
    return sorted({row.setting for row in rows if row.setting not in allowed and not (split and row.role == "router")})


def _diff_words(rows: Sequence[Difference], strangers: Sequence[str], arm: str, other: str) -> str:
    if not rows:
        return f"{other} and {arm} are the same engine: the same command lines and environment."
    differ = set(arm_named(arm).layers) ^ set(arm_named(other).layers)
    layers = [_IN_WORDS[layer] for layer in LAYERS if layer in differ]
    if strangers:
        return f"Beside {', '.join(layers)}, this differs: {', '.join(strangers)}. That is a fault of the profile."
    return f"Only {' and '.join(layers)} differ{'s' * (len(layers) == 1)}: every other option and variable is the same."
