"""What one layer did to one metric, on the requests that an arm and its twin both answered: gain, interval, verdict.

The same pairs, interval and words as everywhere (analysis/comparisons.py, effect_words.py). It is one contrast outside
the headline set, so its p is not corrected, and its verdict says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from labkit.analysis.comparisons import compared
from labkit.analysis.contrasts import Contrast
from labkit.analysis.effect_words import ALPHA, NOT_MEASURED, note, smallest, verdict
from labkit.analysis.effects import ratio
from labkit.analysis.format import times
from labkit.analysis.requests import Metric, request_costs
from labkit.analysis.starts import starts_of
from labkit.experiments.dashboard.layers.rows import folded
from labkit.experiments.report.english import verdict_head


@dataclass(frozen=True, kw_only=True)
class TwinGain:
    """`gain`: over 1 is better; None: not measured. `verdict`: in full; `note`: what limits it."""

    metric: Metric
    arm: str
    twin: str
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    n_tasks: int = 0
    verdict: str = NOT_MEASURED
    note: str = ""

    @property
    def head(self) -> str:
        """The verdict's own words: `better`, `too few to tell`."""
        return verdict_head(self.verdict)

    @property
    def value(self) -> str:
        """`3.59x`, or a dash."""
        return times(self.gain)

    @property
    def words(self) -> str:
        """`3.59x (95 % 2.99x to 4.32x), n = 30: better, exploring (...)`."""
        if self.gain is None:
            return self.verdict
        interval = "" if self.low is None else f" (95 % {times(self.low)} to {times(self.high)})"
        return f"{self.value}{interval}, n = {self.n}: {self.verdict}"


def twin_gain(metric: Metric, steps: pd.DataFrame, chunks: pd.DataFrame, arm: str, twin: str) -> TwinGain:
    """`arm` against `twin` over their pairs. Other arms in `steps` tell how much starts of an engine differ.

    `chunks` are needed for `itl_p99_s` alone.
    """
    steps, chunks = folded(steps), folded(chunks) if len(chunks) else chunks
    return gain_of(metric, request_costs(steps, chunks, metric), steps, arm, twin)


def gain_of(metric: Metric, costs: pd.DataFrame, steps: pd.DataFrame, arm: str, twin: str) -> TwinGain:
    """The same from costs that are there already: those of `request_costs`, of these steps (`folded`)."""
    known = set(costs.loc[costs["cost"].notna(), "arm"])
    if not {arm, twin} <= known:
        return TwinGain(metric=metric, arm=arm, twin=twin)
    (found,) = compared(metric, costs, [Contrast(arm, {twin: 1.0, arm: -1.0})], starts_of(steps))
    return TwinGain(
        metric=metric,
        arm=arm,
        twin=twin,
        gain=ratio(found.gain),
        low=ratio(found.low),
        high=ratio(found.high),
        n=found.n_requests,
        n_tasks=found.n_tasks,
        verdict=verdict(found, found.p, False, smallest(found, ALPHA)),
        note=note(found),
    )


def speed_words(gain: float, twin: str, takes: str, comes: str) -> str:
    """A gain of a time in words: `{comes} 3.59x as fast as under base`, or below 1 `{takes} 2.1x as long as ...`."""
    return (
        f"{comes} {times(gain)} as fast as under {twin}"
        if gain >= 1
        else f"{takes} {times(1 / gain)} as long as under {twin}"
    )
