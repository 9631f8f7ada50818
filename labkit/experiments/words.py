"""The command line that asks for these parameters: what a job runs and what a page shows to copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labkit.core.errors import BadInput
from labkit.experiments.catalogue import Experiment


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


def _option(name: str, value: Any) -> list[str]:
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    return [flag, ",".join(value) if isinstance(value, list | tuple) else str(value)]
