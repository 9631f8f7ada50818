"""Flags as data to a command line, and markers in them to values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from labkit.engines.profiles.schema import Flags, FlagValue

T = TypeVar("T")


def to_argv(flags: Flags) -> tuple[str, ...]:
    """`{"block-size": 32, "enforce-eager": True}` to `("--block-size", "32", "--enforce-eager")`, order kept."""
    return tuple(part for name, value in flags.items() for part in _option(name, value))


def _option(name: str, value: FlagValue) -> tuple[str, ...]:
    if value is True:
        return (f"--{name}",)
    if value is False:
        return (f"--no-{name}",)
    text = json.dumps(value, separators=(",", ":")) if isinstance(value, dict | list) else str(value)
    return (f"--{name}", text)


def fill(value: T, values: Mapping[str, str]) -> T:
    """`value` with every `{name}` in its strings, however deep, replaced by `values[name]`."""
    return _fill(value, values)  # type: ignore[no-any-return]


def _fill(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in values.items():
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, dict):
        return {key: _fill(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_fill(item, values) for item in value]
    return value
