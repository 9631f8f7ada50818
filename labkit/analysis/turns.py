"""Times by where a step stands in its task: turn 1 and turn 30 are different questions, and one mean hides both.

Two ways to sort steps, since agents differ: by turn, and by the prompt tokens that had to be computed, which is what a
first token really waits for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.latency import e2e, percentile, ttft
from labkit.analysis.tables import Floats, is_finished, measured, numbers, typed_frame
from labkit.core.columns import column
from labkit.core.records import Record

Groups = tuple[tuple[int, int | None], ...]
TURNS: Groups = ((1, 1), (2, 5), (6, 20), (21, None))
"""First and last turn of each group; None: to the end."""
COMPUTED: Groups = ((0, 255), (256, 1023), (1024, 4095), (4096, None))
"""Fewest and most computed prompt tokens of each group."""


@dataclass(frozen=True, kw_only=True)
class TurnRow(Record):
    """The finished steps of one arm in one group."""

    arm: str = column("string", "", "label of the arm")
    by: str = column("string", "", "`turn` or `computed`: what the groups are of")
    group: str = column("string", "", "the group's first and last value, such as 2-5 or 21+")
    n: int = column("int64", "", "finished steps")
    ttft_p50_s: float | None = column("float64", "s", "median time to first token", nullable=True)
    ttft_p95_s: float | None = column("float64", "s", "95th percentile of the time to first token", nullable=True)
    e2e_p50_s: float | None = column("float64", "s", "median of send to end", nullable=True)


def by_turn(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per arm and group of turns that has a step; columns as TurnRow declares them."""
    return _grouped(_finished(steps), "turn", TURNS, lambda some: numbers(some, "turn"))


def by_computed(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per arm and group of computed prompt tokens (prompt minus cached); steps that did not report are out."""
    return _grouped(_finished(steps), "computed", COMPUTED, _computed)


def _finished(steps: pd.DataFrame) -> pd.DataFrame:
    kept = measured(steps)
    return kept[is_finished(kept)]


def _computed(steps: pd.DataFrame) -> Floats:
    return numbers(steps, "prompt_tokens") - numbers(steps, "cached_tokens")


def _grouped(steps: pd.DataFrame, by: str, groups: Groups, value: Callable[[pd.DataFrame], Floats]) -> pd.DataFrame:
    rows = []
    for arm in in_order(steps["arm"]):
        of_arm = steps[steps["arm"] == arm]
        values = value(of_arm)
        for first, last in groups:
            some = of_arm[(values >= first) & (values <= (np.inf if last is None else last))]
            if len(some):
                rows.append(_row(arm, by, _name(first, last), some))
    return typed_frame(TurnRow, rows)


def _name(first: int, last: int | None) -> str:
    if last is None:
        return f"{first}+"
    return str(first) if first == last else f"{first}-{last}"


def _row(arm: str, by: str, group: str, steps: pd.DataFrame) -> TurnRow:
    first = ttft(steps)
    return TurnRow(
        arm=arm,
        by=by,
        group=group,
        n=len(steps),
        ttft_p50_s=percentile(first, 50),
        ttft_p95_s=percentile(first, 95),
        e2e_p50_s=percentile(e2e(steps), 50),
    )
