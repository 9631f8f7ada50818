"""One arm's drafts in the terms of the drafter tables: which drafter, its rows, and the same requests without it.

The speculation experiment tells drafters by the condition of its rows. In every other run an arm has one drafter, and
its reference is the arm's twin: rows are renamed to say so, with the condition that they had folded into the recording,
so that a pair stays within it. Then the same analysis serves both (analysis/drafters.py, drafter_gain.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from labkit.analysis.counter_events import counters
from labkit.core.conditions import is_reference, method_of, of_method, of_reference
from labkit.core.records import RunInfo
from labkit.experiments.dashboard.layers.halves import engines_of
from labkit.experiments.dashboard.layers.rows import folded, twin_of

UNKNOWN = "the drafter"
_FLAG = "--speculative-config"


def drafters(steps: pd.DataFrame, arm: str, condition: str | None, name: str) -> pd.DataFrame:
    """The arm's rows under `method=...`, those without a drafter under `method=none`; of natural length and pinned.

    `steps`: all that count in one cache state. `name`: what the arm's drafter is called where rows do not say.
    """
    mine, own = steps[steps["arm"] == arm], varies(steps)
    if condition is not None:
        mine = mine[mine["condition"] == condition]
    if own:
        rest = steps[steps["condition"].map(is_reference).astype(bool)]
        return pd.concat([mine, rest])
    other = steps[steps["arm"] == twin_of(arm, "speculation")]
    if condition is not None:
        other = other[other["condition"] == condition]
    with_it = folded(mine).assign(condition=of_method(name))
    return pd.concat([with_it, folded(other).assign(condition=of_reference())])


def varies(steps: pd.DataFrame) -> bool:
    """Whether the run varied the drafter itself."""
    return bool(steps["condition"].map(method_of).astype(bool).any())


def drafter_name(info: RunInfo) -> str:
    """What the run's engines draft with, by what was asked or by their command lines."""
    if asked := info.asked.get("spec_method"):
        return str(asked)
    found = {config.get("method") for config in _configs(info.fingerprint)} - {None}
    return str(found.pop()) if len(found) == 1 else UNKNOWN


def draft_counters(
    events: Iterable[Mapping[str, Any]], steps: pd.DataFrame, arm: str, condition: str | None, name: str
) -> list[dict[str, Any]]:
    """The `counters` events of the passes that these steps are of, each under its drafter's condition."""
    mine, own = steps[steps["arm"] == arm], varies(steps)
    if condition is not None:
        mine = mine[mine["condition"] == condition]
    keys = set(mine[["repeat", "condition", "cache"]].drop_duplicates().itertuples(index=False, name=None))
    return [
        {**event, "condition": event["condition"] if own else of_method(name)}
        for event in counters(events)
        if event.get("arm") == arm and _key(event) in keys
    ]


def _key(event: Mapping[str, Any]) -> tuple[Any, ...]:
    return event.get("repeat"), event.get("condition") or "", event.get("cache") or "cold"


def _configs(fingerprint: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for processes in engines_of(fingerprint):
        for process in processes:
            argv = list(process.get("argv") or ())
            if _FLAG in argv[:-1]:
                yield _read(argv[argv.index(_FLAG) + 1])


def _read(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
