"""A notebook's run that nobody has measured yet: said in a sentence, and never stood in for by another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from labkit.experiments.lessons.measured import measured
from labkit.store.runs import Run


def measured_if_there(
    experiment: str, question: Mapping[str, Any], engine: str, stored: str, say: Callable[[str], None] = print
) -> Run | None:
    """As `measured`; None, and a sentence that says so, where a stored run is asked for and `stored` names none."""
    if engine == "stored" and not stored:
        say(f'Not measured: no such {experiment} comes with the project yet. ENGINE = "live" measures it.')
        return None
    return measured(experiment, question, engine, stored, say)
