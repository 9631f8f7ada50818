"""What a run says of the seconds that a drafter gave and took, as a clause with its numbers for `told`.

This is about one engine on one machine, so it is told of this run, one drafter at a time.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from labkit.analysis.format import missing, plain, seconds, times
from labkit.experiments.lessons.drafted import n_of, of_all
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import records

TOLERANCE = 0.1
"""Rounds that last so much longer or shorter than promised, as a share, still keep the promise."""


def rounds_last(rounds: pd.DataFrame, promises: pd.DataFrame, method: str) -> Outcome:
    """Whether a drafter's rounds last the passes that the formula says, within TOLERANCE, in this run."""
    found = _beside(rounds, promises, method)
    if found is None:
        return unmeasured(f"no round of {method} could be timed, or the formula does not say how long one lasts")
    row, passes = found
    lasted = float(row["round_passes"])
    saw = (
        f"in this run a round of {method} lasted {plain(lasted)} passes where the formula has {plain(passes)} "
        f"({n_of(row['n_pairs'], 'pair', row)})"
    )
    return Outcome(None if row["too_few"] else abs(lasted / passes - 1) <= TOLERANCE, saw)


def pays(rounds: pd.DataFrame, promises: pd.DataFrame, method: str) -> Outcome:
    """Whether drafts give more than they take just where rounds yield more than the formula's passes, in this run."""
    found = _beside(rounds, promises, method)
    if found is None:
        return unmeasured(f"no round of {method} could be timed, or the formula does not say how long one lasts")
    row, passes = found
    given, taken = float(row["given_s"]), float(row["taken_s"])
    saw = (
        f"in this run {method} yielded {plain(row['length'])} tokens a round where {plain(passes)} break even, gave "
        f"{seconds(given)} and took {seconds(taken)}, so decoding was {_pace(row['decode_gain'])} "
        f"({n_of(row['n_pairs'], 'pair', row)})"
    )
    return Outcome(None if row["too_few"] else (row["length"] > passes) == (given > taken), saw)


def _beside(rounds: pd.DataFrame, promises: pd.DataFrame, method: str) -> tuple[dict[str, Any], float] | None:
    """A drafter on all steps, where its rounds were timed, with the passes that it promised."""
    passes = dict(zip(promises["method"], promises["passes"], strict=True)).get(method)
    rows = records(of_all(rounds, method, "round_passes"))
    return None if not rows or passes is None or missing(passes) else (rows[0], float(passes))


def _pace(gain: float) -> str:
    return f"{times(gain)} as fast" if gain >= 1 else f"{times(1 / gain)} as long"


def first_token_stays(rounds: pd.DataFrame, method: str) -> Outcome:
    """Whether the first token comes as early with a drafter as without, within TOLERANCE, in this run."""
    rows = records(of_all(rounds, method, "first_gain"))
    if not rows:
        return unmeasured(f"no first token of {method} could be timed")
    (row,) = rows
    saw = (
        f"in this run the first token with {method} took {times(1 / row['first_gain'])} the time without "
        f"({n_of(row['n_pairs'], 'pair', row)})"
    )
    return Outcome(None if row["too_few"] else abs(row["first_gain"] - 1) <= TOLERANCE, saw)
