"""Reading and changing single options of a command line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def value_of(argv: Sequence[str], option: str) -> str | None:
    """What follows `option`; None when it is not there."""
    return next((value for name, value in pairwise(argv) if name == option), None)


def with_value(argv: Sequence[str], option: str, value: str) -> tuple[str, ...]:
    """The command line with another value of `option`; as it is where it has no such option."""
    return tuple(value if before == option else word for before, word in zip(("", *argv), argv, strict=False))


def options(argv: Sequence[str]) -> dict[str, str | None]:
    """Every option with its value, dashes included; None for one that has none. What is before the first is left out.

    For command lines whose options have one value at most, as an engine's have.
    """
    found: dict[str, str | None] = {}
    name = ""
    for word in argv:
        if word.startswith("--"):
            name = word
            found[name] = None
        elif name:
            found[name] = word
    return found
