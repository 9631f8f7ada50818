"""Where a stored run was asked something else than the notebook's parameters say: it is shown as it was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from labkit.store.runs import Run

_ALIKE = frozenset({"quick", "replay"})
"""A quick run is a replay with defaults."""


def asked_otherwise(experiment: str, question: Mapping[str, Any], run: Run) -> list[str]:
    """A line for another experiment, and one for other parameters: `asked of it: steps 8 (above: 6)`. Often none."""
    other = run.info.experiment
    kind = [] if other == experiment or {other, experiment} <= _ALIKE else [f"it is a run of {other}, not {experiment}"]
    asked = run.info.asked
    unlike = [
        f"{name} {_words(asked[name])} (above: {_words(value)})"
        for name, value in question.items()
        if name in asked and _words(asked[name]) != _words(value)
    ]
    return [*kind, *(f"asked of it: {'; '.join(unlike)}" for _ in unlike[:1])]


def _words(value: Any) -> str:
    """`base, prefix`; a file by its name alone, since it may lie elsewhere."""
    if isinstance(value, str):
        return Path(value).stem if value.endswith(".jsonl") else value
    if isinstance(value, Iterable):
        return ", ".join(map(_words, value)) or "none"
    return "all" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
