"""The rows that a table of arms is made from: without the block at the end that only shows drift.

That block is of one arm alone, so with it this arm's sums would be over more steps than those of the others.
"""

from __future__ import annotations

import pandas as pd

from labkit.core.records import RunInfo


def compared(info: RunInfo, rows: pd.DataFrame) -> pd.DataFrame:
    """`rows`: steps or chunks of this run."""
    if not info.asked.get("drift_check"):
        return rows
    return rows[rows["repeat"] < int(info.asked.get("repeats", 1))]
