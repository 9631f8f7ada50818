"""The answer of a confirmation: from attempts at tasks in two arms to "not worse", "worse" or "too few to tell"."""

from __future__ import annotations

import dataclasses

import pandas as pd

from labkit.analysis.outcomes import pairs
from labkit.analysis.success import SuccessRow, non_inferior

NOTHING_SOLVED = "too few to tell: neither arm solved anything, so these tasks cannot show a loss with this model"


def confirmation(outcomes: pd.DataFrame, against: str, arm: str, margin: float) -> SuccessRow:
    """Success of `arm` beside that of `against`, paired by task and seed; `outcomes`: a table of OutcomeRow.

    The interval is about further attempts at these tasks, not about other tasks. An attempt without its partner (the
    other arm was cut short) is left out. Raises BadInput for a margin outside 0 to 1.
    """
    base, other = pairs(outcomes, against, arm)
    found = non_inferior(base, other, margin, paired=True)
    if base and not any(base) and not any(other):
        return dataclasses.replace(found, verdict=NOTHING_SOLVED)
    return found


def in_words(found: SuccessRow, against: str, arm: str) -> str:
    """The verdict with the difference, its interval and n; without a full stop."""
    said = f"{arm} against {against}: {found.verdict}"
    if found.difference is None or found.low is None or found.high is None:
        return said
    interval = f"95 % interval {100 * found.low:+.0f} to {100 * found.high:+.0f} points"
    return f"{said} ({100 * found.difference:+.0f} points, {interval}, n {found.n_arm} pairs of attempts)"
