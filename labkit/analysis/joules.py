"""Joules as costs that can be paired. They are read per arm and repeat, so a pass over all tasks is the request."""

from __future__ import annotations

import numpy as np
import pandas as pd

from labkit.analysis.requests import PASS
from labkit.analysis.tables import is_finished, numbers

_COLUMNS = ["arm", *PASS, "turn", "cost"]


def joule_costs(joules: pd.DataFrame | None, steps: pd.DataFrame) -> pd.DataFrame:
    """One row per arm and repeat, as `request_costs` has them; null where not read, or where a step failed.

    A block in which steps failed did less work, and its joules would look like a gain. `steps`: those that were sent.
    Where `joules` says which condition and cache state its rows are of, only those of `steps` count.
    """
    if joules is None or joules.empty:
        return pd.DataFrame(columns=_COLUMNS)
    for name in {"condition", "cache"} & set(joules.columns):
        joules = joules[joules[name].isin(set(steps[name]))]
    whole = is_finished(steps).groupby([steps["arm"], steps["repeat"]]).all()
    read = joules[["arm", "repeat"]].assign(cost=numbers(joules, "joules"))
    kept = read.groupby(["arm", "repeat"])["cost"].sum(min_count=1).reset_index()
    finished = [bool(whole.get(key, False)) for key in kept[["arm", "repeat"]].itertuples(index=False, name=None)]
    kept["cost"] = kept["cost"].where(np.array(finished), np.nan)
    return kept.assign(task="all", recording="", agent="", turn=0)[_COLUMNS]
