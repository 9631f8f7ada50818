"""A command line as options with their values, for whoever shows or compares one."""

from __future__ import annotations

from collections.abc import Sequence

COMMAND = "command"


def values_of(argv: Sequence[str]) -> dict[str, list[str]]:
    """`--block-size 32 --eager` as `{"--block-size": ["32"], "--eager": []}`; the words before are `command`.

    Of an option that is said twice the last counts, as for the program that reads it.
    """
    found: dict[str, list[str]] = {}
    name = COMMAND
    for word in map(str, argv):
        if word.startswith("--"):
            name, sign, value = word.partition("=")
            found[name] = [value] if sign else []
        else:
            found.setdefault(name, []).append(word)
    return found


def options(argv: Sequence[str]) -> dict[str, str]:
    """The same with values in one word: `1 2`; a flag without a value is `on`."""
    return {name: " ".join(values) if values else "on" for name, values in values_of(argv).items()}
