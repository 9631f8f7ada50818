"""Whiles in which a lane's steps were served by one arm: the coloured lines above the lanes, and their labels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from labkit.analysis.spans import step_end
from labkit.experiments.dashboard.live.lane_clock import Clock
from labkit.plots.lane_records import LanesInfo, Stretch

_ROOM = 0.07
"""Share of what is shown that an arm's label needs."""


def stretches(steps: pd.DataFrame, info: LanesInfo, clock: Clock, together: bool) -> tuple[Stretch, ...]:
    """Whiles of one arm, lane by lane; of all lanes `together`, on a line above them, where they are binned."""
    table = pd.DataFrame(
        {
            "lane": -1 if together else steps["lane"],
            "arm": steps["arm"],
            "start": steps["t_send"] - steps["off"],
            "end": step_end(steps) - steps["off"].to_numpy(),
        }
    ).sort_values(["lane", "start"], kind="stable")
    if clock == "arm" and together:
        return ()
    new = (table["arm"] != table["arm"].shift()) | (table["lane"] != table["lane"].shift())
    whiles = table.groupby(np.cumsum(new.to_numpy(dtype=bool))).agg(
        lane=("lane", "first"), arm=("arm", "first"), start=("start", "min"), end=("end", "max")
    )
    return tuple(_labelled(whiles[(whiles["end"] > info.start) & (whiles["start"] < info.end)], info, clock))


def _labelled(whiles: pd.DataFrame, info: LanesInfo, clock: Clock) -> list[Stretch]:
    """A label where there is room for it since the last one; none where the lane's own label says it."""
    found: list[Stretch] = []
    free, lane_before = -np.inf, None
    for lane, arm, start, end in whiles.itertuples(index=False):
        free = -np.inf if lane != lane_before else free
        begins = max(float(start), info.start)
        shown = clock == "run" and begins >= free
        free = begins + (info.end - info.start) * _ROOM if shown else free
        lane_before = lane
        found.append(Stretch(lane=int(lane), arm=str(arm), start=begins, end=min(float(end), info.end), shown=shown))
    return found
