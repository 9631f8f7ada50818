"""Passes cut short after the fact: the first n steps of a pass are what a pass of n steps would have been.

A step depends on those before it and on nothing that comes after, so a run that was not asked for growth tells of it,
too. The cuts of one pass share their steps, so they are no samples of their own: what counts stay the tasks.
"""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from labkit.analysis.passes import PASS_KEY
from labkit.analysis.tables import is_finished, measured
from labkit.core.conditions import of_steps


def cut_short(steps: pd.DataFrame, counts: Collection[int], arms: Collection[str]) -> pd.DataFrame:
    """The cold passes of `arms`, once for each count that they have all steps of, with the condition `steps=N`.

    Columns as those of `steps`. Passes under a condition of their own (agents, drafters, cuts) are left out.
    """
    kept = measured(steps)
    kept = kept[kept["arm"].isin(list(arms)) & (kept["condition"] == "") & (kept["cache"] == "cold")]
    kept = kept[is_finished(kept)]
    return pd.concat([kept.iloc[:0], *(_cut(kept, count) for count in sorted(set(counts)))])


def _cut(steps: pd.DataFrame, count: int) -> pd.DataFrame:
    first = steps[steps["turn"] <= count]
    whole = first.groupby(PASS_KEY)["turn"].transform("size") == count
    return first[whole].assign(condition=of_steps(count))
