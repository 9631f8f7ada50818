"""The command line that asks for these parameters: what a job runs and what a page shows to copy."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from labkit.core.errors import BadInput
from labkit.experiments.agent_asked import AgentAsked
from labkit.experiments.asked import Asked
from labkit.experiments.catalogue import DEFAULT_PROFILE, EXPERIMENTS, QUICK_RECORDING, Experiment

_AGENT = "agent"


def command_of(experiment: Experiment, params: Mapping[str, Any]) -> list[str]:
    """The words after `labkit`. `params`: fields of Asked, and only those that are not to be the default.

    Raises BadInput for a parameter that it does not take, or a recording missing where it must be named.
    """
    for name in params:
        if name not in experiment.params:
            raise BadInput(f"parameter of {experiment.name}", name, ", ".join(sorted(experiment.params)))
    rest = dict(params)
    words = list(experiment.command)
    if experiment.name == "replay":
        if "recording" not in rest:
            raise BadInput("recording", None, "the name of a recording", "List them with: labkit recordings")
        words.append(str(rest.pop("recording")))
    return words + [word for name, value in rest.items() for word in _option(name, value)]


def asked_in_words(name: str, asked: Mapping[str, Any]) -> str:
    """What `run.json` keeps under `asked`, as the command line that asks for it; defaults are left out.

    For an experiment that is not in the catalogue: its parameters by name.
    """
    known = {each.name: each for each in EXPERIMENTS}.get(name)
    if name == _AGENT:
        return shlex.join(["labkit", "agent", *_agent_options(asked)])
    if known is None:
        return ", ".join(f"{key} {_typed(value)}" for key, value in asked.items() if value not in (None, False))
    defaults = _defaults(known)
    differing = {k: v for k, v in asked.items() if k in known.params and _typed(v) != _typed(defaults.get(k))}
    return shlex.join(["labkit", *command_of(known, differing)])


def _agent_options(asked: Mapping[str, Any]) -> list[str]:
    defaults = {field.name: field.default for field in fields(AgentAsked)} | {"profile": DEFAULT_PROFILE}
    differing = {k: v for k, v in asked.items() if k != "with_engine" and v != defaults.get(k)}
    return [word for name, value in differing.items() for word in _option(name, value)]


def _defaults(known: Experiment) -> dict[str, Any]:
    own = {field.name: field.default for field in fields(Asked) if field.default is not MISSING}
    return own | ({"recording": QUICK_RECORDING} if known.name == "quick" else {}) | known.defaults


def _typed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _option(name: str, value: Any) -> list[str]:
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    return [flag, _typed(value)]
