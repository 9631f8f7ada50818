"""The answer of a confirmation: from attempts at tasks in two arms to "not worse", "worse" or "too few to tell"."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pandas as pd

from labkit.analysis.outcomes import paired, pairs
from labkit.analysis.success import SuccessRow, non_inferior

NOTHING_SOLVED = "too few to tell: neither arm solved anything, so these tasks cannot show a loss with this model"


def confirmation(outcomes: pd.DataFrame, against: str, arm: str, margin: float) -> SuccessRow:
    """Success of `arm` beside that of `against`, paired by task and seed; `outcomes`: a table of OutcomeRow.

    The interval is about further attempts at these tasks, not about other tasks. An attempt without its partner (the
    run was cut short) is left out; one that an arm never ran, since it was given up, is not solved. Raises BadInput for
    a margin outside 0 to 1.
    """
    base, other = pairs(outcomes, against, arm)
    found = non_inferior(base, other, margin, paired=True)
    if base and not any(base) and not any(other):
        return dataclasses.replace(found, verdict=NOTHING_SOLVED)
    return found


def in_words(found: SuccessRow, against: str, arm: str, outcomes: pd.DataFrame) -> str:
    """The verdict with the difference, its interval and n, and what never ran; without a full stop.

    `outcomes`: the table that `found` was made from.
    """
    return "; ".join([_verdict(found, against, arm), *_never_ran(outcomes, against, arm)])


def _never_ran(outcomes: pd.DataFrame, against: str, arm: str) -> Iterator[str]:
    both = paired(outcomes, against, arm)
    for label in (against, arm):
        n = int((~both[(label, "ran")]).sum())
        if n == 1:
            yield f"1 attempt of {label} never ran and counts as not solved"
        elif n:
            yield f"{n} attempts of {label} never ran and count as not solved"


def _verdict(found: SuccessRow, against: str, arm: str) -> str:
    said = f"{arm} against {against}: {found.verdict}"
    if found.difference is None or found.low is None or found.high is None:
        return said
    pairs_of = "pair" if found.n_arm == 1 else "pairs"
    interval = f"95 % interval {100 * found.low:+.0f} to {100 * found.high:+.0f} points"
    return f"{said} ({100 * found.difference:+.0f} points, {interval}, n {found.n_arm} {pairs_of} of attempts)"
