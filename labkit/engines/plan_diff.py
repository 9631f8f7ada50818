"""What differs between two plans, option by option: the proof that two arms differ by their layers alone.

Port numbers are not compared: they say where a process listens, not what it does. What is shown has them filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from labkit.core.arms import Layer
from labkit.core.masking import masked
from labkit.engines.plan_records import Plan, ProcessSpec
from labkit.engines.sglang.settings import LAYER_SETTINGS as OF_SGLANG

_VLLM: dict[Layer, frozenset[str]] = {
    "prefix_caching": frozenset({"--enable-prefix-caching", "--no-enable-prefix-caching"}),
    "speculation": frozenset({"--speculative-config", "--per-request-spec-decode-metrics"}),
    "pd_split": frozenset(
        {"--kv-transfer-config", "VLLM_NIXL_SIDE_CHANNEL_HOST", "VLLM_NIXL_SIDE_CHANNEL_PORT"}
        | {"LABKIT_VLLM_CPU_BIND", "VLLM_CPU_OMP_THREADS_BIND"}  # the cores are split, too
    ),
}
LAYER_SETTINGS: dict[Layer, frozenset[str]] = {layer: _VLLM[layer] | OF_SGLANG[layer] for layer in _VLLM}
"""The settings that each layer owns. Whatever else differs between arms is a fault of the profile."""


class Difference(NamedTuple):
    """One setting of one process, a secret masked; None where it is not there.

    `role`: `engine / decode` when two roles are compared.
    """

    role: str
    setting: str
    left: str | None
    right: str | None


def diff(left: Plan, right: Plan) -> list[Difference]:
    """The settings that differ. Where one plan is split and the other is not, engines are compared with both halves."""
    found: list[Difference] = []
    for role, one, other in _pairs(left, right):
        ours, theirs = _settings(one), _settings(other)
        shown, others = _settings(one and one.filled(left.ports)), _settings(other and other.filled(right.ports))
        names = list(dict.fromkeys([*ours, *theirs]))
        found += [
            Difference(role, name, _masked(name, shown), _masked(name, others))
            for name in names
            if ours.get(name) != theirs.get(name)
        ]
    return found


def _masked(name: str, settings: Mapping[str, str]) -> str | None:
    return masked(name, settings[name]) if name in settings else None


def _pairs(left: Plan, right: Plan) -> list[tuple[str, ProcessSpec | None, ProcessSpec | None]]:
    """Engines by position (a single one stands for both halves), routers with routers."""
    ours, theirs = _engines(left), _engines(right)
    count = max(len(ours), len(theirs))
    pairs: list[tuple[str, ProcessSpec | None, ProcessSpec | None]] = []
    for index in range(count):
        one, other = ours[min(index, len(ours) - 1)], theirs[min(index, len(theirs) - 1)]
        pairs.append((one.role if one.role == other.role else f"{one.role} / {other.role}", one, other))
    routers = _router(left), _router(right)
    return [*pairs, ("router", *routers)] if any(routers) else pairs


def _engines(plan: Plan) -> list[ProcessSpec]:
    return [process for process in plan.layout if process.role != "router"]


def _router(plan: Plan) -> ProcessSpec | None:
    return next((process for process in plan.layout if process.role == "router"), None)


def _settings(process: ProcessSpec | None) -> dict[str, str]:
    """Options and variables by name. A flag without a value is `set`; the command itself is one setting."""
    if process is None:
        return {}
    settings, name = dict(process.env), "command"
    for argument in process.argv:
        if argument.startswith("--"):
            name = argument
            settings[name] = "set"
        elif settings.get(name, "set") == "set":
            settings[name] = argument
        else:
            settings[name] += f" {argument}"
    settings.pop("--port", None)
    return settings
