"""The command line that asks for these parameters: what a job runs and what a page shows to copy."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from labkit.analysis.slo import Slo
from labkit.core.errors import BadInput
from labkit.core.records import Record, RunInfo
from labkit.experiments.agent_asked import AgentAsked
from labkit.experiments.attached.kept import ATTACHED, attach_words
from labkit.experiments.capacity_asked import CapacityAsked
from labkit.experiments.catalogue import DEFAULT_PROFILE, EXPERIMENTS, Experiment

_AGENT = Experiment(
    name="agent",
    question="Can the model do this task?",
    command=("agent",),
    takes="as long as the agent wants",
    record=AgentAsked,
    only=frozenset({"task", "profile", "arm", "model", "tool_mode", "steps", "keep"}),
    defaults={"profile": DEFAULT_PROFILE},
)
"""Not in the catalogue: it measures one arm, live, and is never a job."""
_BESIDE_AN_ENDPOINT = {"profile": "", "arms": None}
"""Defaults beside an --endpoint: no profile; the arms are those of the engine, and so are always said."""


def command_of(experiment: Experiment, params: Mapping[str, Any]) -> list[str]:
    """The words after `labkit`. `params`: fields of its record, and only those that are not to be the default.

    Raises BadInput for a parameter that it does not take, or one missing that must be named.
    """
    for name in params:
        if name not in experiment.params:
            raise BadInput(f"parameter of {experiment.name}", name, ", ".join(sorted(experiment.params)))
    rest = dict(params)
    words = list(experiment.command)
    if argument := experiment.argument:
        if argument not in rest:
            raise BadInput(argument, None, f"the name of a {argument}", f"List them with: labkit {argument}s")
        words.append(str(rest.pop(argument)))
    defaults = experiment.all_defaults
    return words + [word for name, value in rest.items() for word in _option(name, value, defaults.get(name))]


def asked_in_words(name: str, asked: Mapping[str, Any], fingerprint: Mapping[str, Any] | None = None) -> str:
    """What `run.json` keeps under `asked`, as the command line that asks for it; defaults are left out.

    `fingerprint`: that of the run, for engines that were attached before runs kept their names, and
    for a run that was spread over nodes. For an experiment that is not known here: its parameters by name.
    """
    known, endpoints = _known(name), attach_words(asked, fingerprint or {})
    if known is None:
        said = (f"{key} {_typed(v)}" for key, v in asked.items() if v not in (None, False) and key != ATTACHED)
        return ", ".join([*said, *([shlex.join(endpoints)] if endpoints else [])])
    defaults = {**known.all_defaults, **(_BESIDE_AN_ENDPOINT if endpoints else {})}
    differing = {k: v for k, v in asked.items() if k in known.params and _typed(v) != _typed(defaults.get(k))}
    spread = ["--ray", "auto"] if (fingerprint or {}).get("nodes") else []  # no address is kept
    return shlex.join(["labkit", *command_of(known, differing), *endpoints, *spread])


def asked_of(name: str, asked: Mapping[str, Any]) -> Record | None:
    """What `run.json` keeps under `asked`, as the experiment's record; None where that is not known here."""
    known = _known(name)
    try:
        return known.asked(asked) if known else None
    except TypeError:
        return None


def slo_of(info: RunInfo) -> Slo:
    """The objective that the run was asked about; the default one where it was asked about none."""
    asked = asked_of(info.experiment, info.asked)
    return asked.slo if isinstance(asked, CapacityAsked) else CapacityAsked(profile="").slo


def replayed_in_words(name: str, asked: Mapping[str, Any]) -> str:
    """What was replayed and how, in a line: `<recordings>: <in_words() of the record>`; empty when not known."""
    record = asked_of(name, asked)
    how = record.in_words() if record is not None and hasattr(record, "in_words") else ""
    return ": ".join(filter(None, (recordings_in_words(asked), how)))


def recordings_in_words(asked: Mapping[str, Any]) -> str:
    """The recording or recordings that were asked for; empty where there are none."""
    return _typed(asked.get("recordings") or asked.get("recording") or "").replace(",", ", ")


def _known(name: str) -> Experiment | None:
    return {each.name: each for each in (*EXPERIMENTS, _AGENT)}.get(name)


def _typed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _option(name: str, value: Any, default: Any = None) -> list[str]:
    """A switch that is on by default is taken back with `--no-...`."""
    flag = name.replace("_", "-")
    if value is False and default is True:
        return [f"--no-{flag}"]
    if value is None or value is False:
        return []
    return [f"--{flag}"] if value is True else [f"--{flag}", _typed(value)]
