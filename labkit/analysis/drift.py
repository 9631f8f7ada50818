"""How much the machine changed while it was measured: the first arm once more at the end, against its first block.

The two blocks differ in nothing but the time between them, so what they differ by is drift, and an effect smaller than
that is not to be believed without blocks in random order. Pairs are the same requests; the interval is over tasks, as
that of the effects is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.analysis.inference import estimate
from labkit.analysis.latency import e2e
from labkit.analysis.tables import STEP_KEY, Floats, floats, is_finished, measured
from labkit.core.columns import column
from labkit.core.records import Record

NOTABLE = math.log(1.05)
"""From 5 % on, drift is said in the run's note."""
MIN_TASKS = 5
"""Below this many tasks the interval is shown and not to be believed."""
_REQUEST = [name for name in STEP_KEY if name != "repeat"]


@dataclass(frozen=True, kw_only=True)
class DriftRow(Record):
    """The last block of an arm against its first: `gain` is time then / time now, so above 1 it got faster."""

    arm: str = column("string", "", "label of the arm that was measured once more at the end")
    gain: float | None = column("float64", "", "geometric mean of first block / last block, over tasks", nullable=True)
    low: float | None = column("float64", "", "lower end of the 95 % interval over tasks", nullable=True)
    high: float | None = column("float64", "", "upper end of it", nullable=True)
    n_pairs: int = column("int64", "", "requests that finished in both blocks")
    n_tasks: int = column("int64", "", "tasks that they belong to")
    too_few: bool = column("bool", "", f"fewer than {MIN_TASKS} tasks: too few to tell")

    @property
    def notable(self) -> bool:
        """More than 5 % either way."""
        return self.gain is not None and abs(math.log(self.gain)) > NOTABLE

    def in_words(self) -> str:
        """One sentence, without a full stop."""
        if self.gain is None:
            return f"{self.arm} was measured again at the end, but no request finished in both blocks"
        way = "slower" if self.gain < 1 else "faster"
        by = f"{max(self.gain, 1 / self.gain):.2f}x {way} at the end than at the start"
        n = f"{self.n_pairs} requests of {self.n_tasks} task{'s' * (self.n_tasks != 1)}"
        return f"drift: {self.arm} was {by} ({n}{self._span()}): smaller effects than this may be drift"

    def _span(self) -> str:
        """The interval, the same way round as the words; where there are too few tasks, that."""
        if self.too_few or self.low is None or self.high is None or self.gain is None:
            return ", too few to tell"
        low, high = (1 / self.high, 1 / self.low) if self.gain < 1 else (self.low, self.high)
        return f", 95 % {low:.2f}-{high:.2f}"


def drift(steps: pd.DataFrame, asked: Mapping[str, Any]) -> DriftRow | None:
    """The block that was repeated at the end against the first of its arm; None when there is no such block.

    `asked`: what the run was asked. Only one with `drift_check` has the block: as a repeat after the `repeats` of all
    arms. A run that was cut short, or an arm that was refused, leaves uneven repeats as well, and they are no drift.
    """
    steps, last = measured(steps), int(asked.get("repeats") or 1)
    arms = steps.loc[steps["repeat"] == last, "arm"].unique()
    if not asked.get("drift_check") or len(arms) != 1:
        return None
    arm = str(arms[0])
    of_arm = steps[steps["arm"] == arm]
    logs = (_log_times(of_arm, 0) - _log_times(of_arm, last)).dropna()
    tasks = floats(logs.groupby(level="task").mean())
    return DriftRow(
        arm=arm,
        **_gain(tasks),
        n_pairs=len(logs),
        n_tasks=len(tasks),
        too_few=len(tasks) < MIN_TASKS,
    )


def _log_times(steps: pd.DataFrame, repeat: int) -> pd.Series[float]:
    """Logarithm of the seconds of each finished request of one block."""
    done = steps[is_finished(steps) & (steps["repeat"] == repeat)]
    seconds = e2e(done).groupby([done[name] for name in _REQUEST]).mean()
    return seconds[seconds > 0].map(math.log)


def _gain(tasks: Floats) -> dict[str, float | None]:
    if not tasks.size:
        return {}
    if tasks.size < 2:
        return {"gain": math.exp(float(tasks[0]))}
    found = estimate(tasks)
    return {
        name: math.exp(float(value))
        for name, value in zip(("gain", "low", "high"), (found.mean, found.low, found.high), strict=True)
    }
