"""Finding a thing by its name, and saying what was meant when there is no such thing."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

from labkit.core.errors import UnknownName

T = TypeVar("T")
_SHOWN = 8


def unknown(kind: str, name: str, known: Iterable[str], list_command: str) -> UnknownName:
    """The error for a `kind` called `name` that is not among `known`: nearest names, and where to list them."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    return UnknownName(kind, name, _instead(near, names), f"List them with: {list_command}")


def _instead(near: list[str], names: list[str]) -> str:
    if near:
        return f"did you mean {' or '.join(near)}?"
    more = ", ..." if len(names) > _SHOWN else ""
    return f"there are: {', '.join(names[:_SHOWN])}{more}" if names else "none exist yet"


def pick(kind: str, name: str, known: Mapping[str, T], list_command: str) -> T:
    """`known[name]`. Raises UnknownName with the nearest names when it is not there."""
    if name not in known:
        raise unknown(kind, name, known, list_command)
    return known[name]
