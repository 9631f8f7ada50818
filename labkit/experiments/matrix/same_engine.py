"""Whether an engine of a run is the one that a profile means today: the same command lines.

Where the model and Python are makes no difference. Environment is left out: it names the cores of the run's machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labkit.core.arms import arm_named
from labkit.core.records import RunInfo
from labkit.engines.plan import Plan
from labkit.engines.profiles import Profile
from labkit.experiments.matrix.cells import portable_plan


def wanted_today(info: RunInfo, profile: Profile, arm: str, method: str | None) -> bool:
    """Whether the engine that the run wanted for the arm is the one that the profile means today."""
    if method is not None and method not in profile.layers.speculation.methods:
        return False
    engines = info.fingerprint.get("engines", {})
    lines = [_lines(each["processes"]) for each in engines.values()]
    salted = not info.asked.get("strict")
    return _lines(_processes(portable_plan(profile, arm_named(arm), method, salted=salted))) in lines


def same_command_lines(plan: Plan, profile: Profile, arm: str) -> bool:
    """Whether what was started then is what the profile means today, wherever model and Python are."""
    if plan.method is not None and plan.method not in profile.layers.speculation.methods:
        return False
    today = portable_plan(profile, arm_named(arm), plan.method, salted=plan.salted)
    return _lines(_processes(plan)) == _lines(_processes(today))


def _processes(plan: Plan) -> list[dict[str, Any]]:
    return [process.to_dict() for process in plan.layout]


def _lines(processes: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Role and words of each process, with the last part of every path."""
    return [(each["role"], *map(_short, each["argv"])) for each in processes]


def _short(word: str) -> str:
    """The last part of a path, in JSON, too."""
    if word.startswith("{") and not word.startswith("{port:"):
        return json.dumps(_short_in(json.loads(word)))
    return word if "://" in word else Path(word).name or word


def _short_in(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short_in(inner) for key, inner in value.items()}
    return Path(value).name if isinstance(value, str) and "/" in value else value
