"""Flags as data to SGLang's command line.

SGLang's switches are on when they are named and have no `--no-` form, so a flag that is false cannot be written. Lists
are words one after the other (`--cuda-graph-bs-decode 1 2 4`), tables are JSON.
"""

from __future__ import annotations

import json

from labkit.core.errors import BadInput
from labkit.engines.profiles.schema import Flags, FlagValue


def to_argv(flags: Flags) -> tuple[str, ...]:
    """`{"tp-size": 4, "enable-metrics": True}` to `("--tp-size", "4", "--enable-metrics")`, order kept.

    Raises BadInput for a flag that is false.
    """
    return tuple(part for name, value in flags.items() for part in _option(name, value))


def _option(name: str, value: FlagValue) -> tuple[str, ...]:
    if value is True:
        return (f"--{name}",)
    if value is False:
        raise BadInput(name, value, "a value, or true", "SGLang has no --no- form: leave out a switch that is off.")
    if isinstance(value, list):
        return (f"--{name}", *map(str, value))
    return (f"--{name}", json.dumps(value, separators=(",", ":")) if isinstance(value, dict) else str(value))
