"""Which clock lanes are drawn on: the run's own, or each arm's, on which what lies between its passes is left out.

On the run's clock one sees what happened when. On the arms' clocks every arm begins at 0, so that the same work under
two arms lies one below the other and the eye can compare lengths.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from labkit.analysis.spans import step_end
from labkit.analysis.tables import Floats, numbers

Clock = Literal["run", "arm"]
_PASS = ["arm", "condition", "cache", "repeat", "task", "recording"]


def earlier(steps: pd.DataFrame, clock: Clock, first: float = np.inf) -> Floats:
    """For each step, the seconds to take off its times, so that its clock begins at 0.

    `first`: when the first of those that are under way was sent; on the run's clock it may be what begins.
    """
    send = numbers(steps, "t_send")
    if not len(steps):
        return send
    if clock == "run":
        return np.full(len(steps), min(send.min(), first))
    off = np.zeros(len(steps))
    for rows in steps.groupby("arm", sort=False).indices.values():
        off[rows] = _without_pauses(steps.iloc[rows])
    return off


def _without_pauses(steps: pd.DataFrame) -> Floats:
    """One arm: each pass begins where the one before ended; passes that overlap keep their distance."""
    send, end = numbers(steps, "t_send"), step_end(steps)
    passes = steps.groupby(_PASS, sort=False).ngroup().to_numpy()
    starts = np.array([send[passes == one].min() for one in range(passes.max() + 1)])
    ends = np.array([end[passes == one].max() for one in range(passes.max() + 1)])
    off, gone, until = np.zeros(len(starts)), 0.0, -np.inf
    for one in np.argsort(starts, kind="stable"):
        gone += starts[one] - until if until > -np.inf and starts[one] > until else 0.0
        gone = starts[one] if until == -np.inf else gone
        off[one], until = gone, max(until, ends[one])
    return np.asarray(off[passes], dtype=np.float64)
