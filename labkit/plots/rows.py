"""Which rows of a steps table a figure may draw. Columns: labkit.core.records.StepRecord."""

from __future__ import annotations

import pandas as pd

from labkit.analysis.tables import STEP_KEY, is_finished, measured
from labkit.plots.theme import arm_order


def finished(steps: pd.DataFrame) -> pd.DataFrame:
    """Measured steps that came to their end without an error."""
    kept = measured(steps)
    return kept[is_finished(kept)]


def common(steps: pd.DataFrame) -> pd.DataFrame:
    """The finished steps that every arm with any finished step has: sums over them can be compared."""
    kept = finished(steps)
    if not len(kept):
        return kept
    arms = kept.groupby(STEP_KEY)["arm"].transform("nunique")
    return kept[arms == kept["arm"].nunique()]


def arms_of(steps: pd.DataFrame) -> list[str]:
    """The arms in the table, in the lab's order."""
    return arm_order(steps["arm"])


def counted(n: int, what: str) -> str:
    """`1 step`, `15 steps`."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
