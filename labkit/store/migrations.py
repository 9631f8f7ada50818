"""Old run folders stay readable: each change of schema is one named function, appended here and never edited.

Only `run.json` and the lines of `events.jsonl` are upgraded. The Parquet files are derived from the events, so tables
of another schema are not upgraded but made again. An upgrade takes the dict of schema n and returns that of n + 1:

    def run_002_note_may_be_long(data): ...
    RUN_UPGRADES: tuple[Upgrade, ...] = (run_002_note_may_be_long,)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labkit.core.errors import RunUnreadable
from labkit.core.records import SCHEMA

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]


def run_001_names_its_schema(data: dict[str, Any]) -> dict[str, Any]:
    """Steps have got a recording, a condition and a cache state; `run.json` itself is as before."""
    return {**data, "schema": 2}


def event_001_defaults_do(data: dict[str, Any]) -> dict[str, Any]:
    """What a step of schema 1 does not say has a default: no condition, a cold pass, nothing measured."""
    chunks = [{"tokens": None, **chunk} for chunk in data.get("chunks", [])]
    return {**data, "chunks": chunks} if chunks else data


RUN_UPGRADES: tuple[Upgrade, ...] = (run_001_names_its_schema,)
"""`run.json`: entry i leads from schema i + 1 to i + 2."""

EVENT_UPGRADES: tuple[Upgrade, ...] = (event_001_defaults_do,)
"""One line of `events.jsonl`: entry i leads from schema i + 1 to i + 2."""


def known_schema(what: str, found: object) -> int:
    """`found` as a schema number that this labkit can read.

    Raises RunUnreadable when it is not a number or newer than this labkit.
    """
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise RunUnreadable(f"{what} has no schema number (found {found!r})", "It was not written by labkit.")
    if found > SCHEMA:
        raise RunUnreadable(
            f"{what} has schema {found}; this labkit reads up to {SCHEMA}",
            "A newer labkit wrote this run: update labkit to open it.",
        )
    return found


def upgraded(data: dict[str, Any], schema: int, upgrades: tuple[Upgrade, ...]) -> dict[str, Any]:
    """`data` as the newest schema has it."""
    for upgrade in upgrades[schema - 1 :]:
        data = upgrade(data)
    return data
