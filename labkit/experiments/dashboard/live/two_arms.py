"""Which two arms a live view sets against each other, and over which steps: the newest arm, and the one before it.

Where most of the newest arm's steps have a partner in the other arm (the same request in the same lap), both are over
these partners alone. Else, as after a toggle in the middle of a lap or where agents decide what to send, each is over
its own last steps, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from labkit.analysis.tables import STEP_KEY
from labkit.experiments.compared import is_toggled
from labkit.experiments.dashboard.opened import Opened

LAST = 30
"""Steps of an arm that a view "now" is over."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """One arm's steps, in the order of their sends, and their chunks. `run`: of the run that they are from."""

    arm: str
    run: Opened
    steps: pd.DataFrame

    @property
    def chunks(self) -> pd.DataFrame:
        """The chunks of these steps: looked up by time and arm first, since a run may have a million."""
        if not len(self.steps):
            return self.run.chunks.iloc[:0]
        chunks = self.run.chunks
        inside = chunks["t"].between(self.steps["t_send"].min(), self.steps["t_end"].max())
        mine = chunks[inside & (chunks["arm"] == self.arm) & ~chunks["warmup"].astype(bool)]
        return mine[_index(mine).isin(_index(self.steps))]


@dataclass(frozen=True, kw_only=True)
class TwoArms:
    """`now`: the newest arm with steps; `before`: the one before it, None where there is none.

    `paired`: whether both are over the same requests.
    """

    now: Side
    before: Side | None
    paired: bool


def two_arms(opened: Opened, beside: Opened | None = None, last: int = LAST) -> TwoArms | None:
    """The newest arm's last steps and those of the arm before; None while no step counts.

    `beside`: the run that this one repeats; its newest arm is the one before, where this run has one arm alone.
    """
    rows = cold_sent(opened)
    if not len(rows):
        return None
    arm = str(rows["arm"].iloc[-1])
    now = Side(arm=arm, run=opened, steps=rows[rows["arm"] == arm])
    before = _before(opened, rows[rows["arm"] != arm], beside)
    if before is None:
        return TwoArms(now=_cut(now, last), before=None, paired=False)
    return _together(now, before, last)


def cold_sent(opened: Opened) -> pd.DataFrame:
    """What happened, toggled steps too, in the order of the sends: cold steps, or the only ones without two states.

    A warm pass finds everything in the cache and would be a third kind of arm.
    """
    rows = opened.sent
    cold = rows["cache"] == "cold"
    return (rows[cold] if cold.any() else rows).sort_values("t_send", kind="stable")


def cold_steps(opened: Opened) -> pd.DataFrame:
    """Of these the steps that count: none that followed a toggle."""
    rows = cold_sent(opened)
    return rows[~is_toggled(rows)]


def _before(opened: Opened, others: pd.DataFrame, beside: Opened | None) -> Side | None:
    if len(others):
        arm = str(others["arm"].iloc[-1])
        return Side(arm=arm, run=opened, steps=others[others["arm"] == arm])
    rows = cold_sent(beside) if beside is not None else others
    if beside is None or not len(rows):
        return None
    arm = str(rows["arm"].iloc[-1])
    return Side(arm=arm, run=beside, steps=rows[rows["arm"] == arm])


def _together(now: Side, before: Side, last: int) -> TwoArms:
    newest = _cut(now, last)
    theirs = _index(before.steps)
    partners = _index(newest.steps).isin(theirs) & ~is_toggled(newest.steps)
    if not (now.run.paired and before.run.paired) or 2 * partners.sum() < len(newest.steps):
        return TwoArms(now=newest, before=_cut(before, last), paired=False)
    mine = newest.steps[partners]
    same = before.steps[theirs.isin(_index(mine))]
    return TwoArms(
        now=Side(arm=now.arm, run=now.run, steps=mine),
        before=Side(arm=before.arm, run=before.run, steps=same),
        paired=True,
    )


def _cut(side: Side, last: int) -> Side:
    return Side(arm=side.arm, run=side.run, steps=side.steps.tail(last))


def _index(rows: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(rows[STEP_KEY].astype(object))
