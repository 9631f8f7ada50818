"""The most agents that keep an objective, from what was attained at the levels that were tried.

Attainment can only fall as agents are added, so it is fitted by a falling step function (isotonic regression, weighted
by requests, by its min-max formula: Robertson, Wright and Dykstra 1988) and read off between levels on a straight line.
The estimate is the largest whole number of agents whose fitted attainment is at least the share that is asked for. The
interval comes from 2,000 draws of every level's attainment (see `attainment`), each fitted and read off alike: 2.5th to
97.5th percentile.

It is about these recordings, on this machine, on that day: one machine's next hour is not in it. A window that broke
off counts neither for nor against its level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.attainment import Attained, attained
from labkit.analysis.goodput import by_run
from labkit.analysis.served import Served, is_good, served
from labkit.analysis.slo import Slo
from labkit.analysis.tables import Floats, typed_frame
from labkit.core.columns import column
from labkit.core.records import Record

MIN_SENT = 20
"""Requests at a level below which its share tells too little: 20 good ones out of 20 just exclude less than 90 %."""
_DRAWS = 2000
METHOD = "isotonic fit; 95 % interval from draws of each level's attainment, agent-runs as clusters"


@dataclass(frozen=True, kw_only=True)
class CapacityRow(Record):
    """One arm's capacity. `agents` 0: not even one agent was served well enough."""

    arm: str = column("string", "", "label of the arm")
    agents: int = column("int64", "agents", "the most that keep the objective, among those tried or between them")
    low: int = column("int64", "agents", "lower end of the 95 % interval")
    high: int | None = column("int64", "agents", "upper end; null: more than were tried", nullable=True)
    most_tried: int = column("int64", "agents", "the highest level that was tried")
    at_least: bool = column("bool", "", "the objective still held at the highest level: the capacity may be larger")
    goodput_per_s: float | None = column(
        "float64", "1/s", "requests per second at that level (DistServe's goodput); null without one", nullable=True
    )
    n_levels: int = column("int64", "", "levels that were tried")
    n_sent: int = column("int64", "", "requests over all levels")
    too_few: bool = column("bool", "", f"a level next to the estimate has fewer than {MIN_SENT} requests")
    method: str = column("string", "", "how the interval was made")

    def __str__(self) -> str:
        high = f"{self.high}" if self.high is not None else f"more than {self.most_tried}"
        about = f" (95 %: {self.low} to {high})" if (self.low, self.high) != (self.agents, self.agents) else ""
        doubt = "; too few requests to tell" if self.too_few else ""
        if self.agents == 0:
            return f"not even 1 agent{about}{doubt}"
        more = f"{self.agents} or more agents" if self.at_least else f"{self.agents} agent{'s' * (self.agents != 1)}"
        return f"{more}{about}{doubt}"


def capacity(steps: pd.DataFrame, chunks: pd.DataFrame, spans: pd.DataFrame, slo: Slo, seed: int = 0) -> pd.DataFrame:
    """One row per arm; columns as CapacityRow declares them. `spans`: as `concurrency.windows` returns it."""
    return capacity_of(served(steps, chunks, spans), slo, seed)


def capacity_of(load: Served, slo: Slo, seed: int = 0) -> pd.DataFrame:
    """The same from what was put together before, for one objective after the other."""
    steps, spans = load.requests.assign(good=is_good(load.requests, slo)), load.spans
    rows = [_arm(arm, steps[steps["arm"] == arm], spans[spans["arm"] == arm], slo, seed) for arm in _arms(spans, steps)]
    return typed_frame(CapacityRow, rows)


def _arms(spans: pd.DataFrame, steps: pd.DataFrame) -> list[str]:
    return in_order(set(spans["arm"]) & set(steps["arm"]))


def _arm(arm: str, steps: pd.DataFrame, spans: pd.DataFrame, slo: Slo, seed: int) -> CapacityRow:
    agents = {condition: int(at) for condition, at in zip(spans["condition"], spans["agents"], strict=True)}
    at = steps["condition"].map(agents)
    levels = sorted(set(at.dropna().astype(int)))
    shares = attained([by_run(steps[at == level]) for level in levels])
    found = read_off(levels, fitted(shares), slo.share)
    draws = _draws(levels, shares, slo.share, seed)
    low, high = np.percentile(draws, [2.5, 97.5], method="inverted_cdf")
    whole = int(min(found, levels[-1]))
    near = [share.sent for level, share in zip(levels, shares, strict=True) if level in _around(levels, whole)]
    seconds = (spans["end"] - spans["start"])[spans["agents"] == whole].sum()
    sent = dict(zip(levels, (share.sent for share in shares), strict=True)).get(whole)
    return CapacityRow(
        arm=arm,
        agents=whole,
        low=int(min(low, levels[-1])),
        high=int(high) if np.isfinite(high) else None,
        most_tried=levels[-1],
        at_least=not np.isfinite(found),
        goodput_per_s=sent / float(seconds) if sent and seconds > 0 else None,
        n_levels=len(levels),
        n_sent=sum(share.sent for share in shares),
        too_few=min(near) < MIN_SENT,
        method=METHOD,
    )


def _around(levels: Sequence[int], found: int) -> set[int]:
    """The highest level that holds and the lowest that does not."""
    below = [level for level in levels if level <= found]
    above = [level for level in levels if level > found]
    return {*below[-1:], *above[:1]}


def _draws(levels: Sequence[int], shares: Sequence[Attained], need: float, seed: int) -> Floats:
    dice = np.random.default_rng(seed)
    drawn = np.stack([share.draws(_DRAWS, dice) for share in shares], axis=1)
    return np.array([read_off(levels, row, need) for row in falling(drawn, [share.sent for share in shares])])


def fitted(shares: Sequence[Attained]) -> Floats:
    """The attainment of each level, in order, as a falling function of load."""
    (fit,) = falling(np.array([[share.share for share in shares]]), [share.sent for share in shares])
    return np.asarray(fit, dtype=np.float64)


def falling(rows: Floats, weights: Sequence[int]) -> Floats:
    """The falling function nearest to each row, by weighted squares: at i, the least over a <= i of the greatest over
    b >= i of the weighted mean from a to b.
    """
    levels = rows.shape[1]
    sums = np.insert(np.cumsum(rows * weights, axis=1), 0, 0.0, axis=1)
    counts = np.insert(np.cumsum(weights), 0, 0)
    fit = np.full(rows.shape, np.inf)
    for a in range(levels):
        means = (sums[:, a + 1 :] - sums[:, a : a + 1]) / (counts[a + 1 :] - counts[a])
        greatest = np.maximum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
        fit[:, a:] = np.minimum(fit[:, a:], greatest)
    falls = np.all(np.diff(rows, axis=1) <= 0, axis=1, keepdims=True)
    return np.where(falls, rows, fit)  # what falls is its own fit, to the last digit


def read_off(levels: Sequence[int], shares: Floats, need: float) -> float:
    """The most agents whose share is at least `need`: 0 when the lowest level has less, inf when the highest has."""
    holds = [i for i, share in enumerate(shares) if share >= need]
    if not holds:
        return 0.0
    last = holds[-1]
    if last == len(levels) - 1:
        return float("inf")
    (x0, x1), (y0, y1) = levels[last : last + 2], shares[last : last + 2]
    return float(np.floor(x0 + (x1 - x0) * (y0 - need) / (y0 - y1) + 1e-9))
