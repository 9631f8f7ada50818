"""What a gain of a run says to a prediction: its verdict against the one that was expected.

Markdown(told("splitting costs time on one machine", *as_expected(gains.arm_gains, "pd", "e2e_s", "worse")))
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from labkit.analysis.format import missing
from labkit.experiments.dashboard.compare.gain_words import (
    Row,
    arm_in_words,
    evidence,
    gained,
    is_told,
    why_untold,
)
from labkit.experiments.lessons.outcome import Outcome
from labkit.experiments.report.english import LAYER_NAMES, records


def as_expected(gains: pd.DataFrame, of: str, metric: str, *expected: str) -> Outcome:
    """Whether a gain has one of the expected verdicts: `better`, `worse` or `same`.

    `gains`: `effects` (`of` is a layer) or `arm_gains` (`of` is an arm). A gain without a verdict tells nothing, and
    the clause says why.
    """
    row = row_of(gains, of, metric)
    name = LAYER_NAMES.get(of) or arm_in_words(of)
    if row is None or missing(row["gain"]):
        return Outcome(None, f"{name} was not measured beside base in this run")
    saw = f"with {name} {gained(row)}, on {evidence(row)}"
    if not is_told(row):
        return Outcome(None, f"{saw}, and {why_untold(row)}")
    return Outcome(str(row["verdict"]).startswith(expected), saw)


def row_of(gains: pd.DataFrame, of: str, metric: str) -> Row | None:
    """The row of one term or arm on one metric; None where there is none."""
    by = "term" if "term" in gains else "arm"
    found: list[dict[str, Any]] = records(gains[(gains[by] == of) & (gains["metric"] == metric)])
    return found[0] if found else None
