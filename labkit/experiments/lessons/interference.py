"""The lesson on interference: what a prompt does to the streams beside it.

A run under load is read once (`in_company`), and a prediction is held against every collision in it (see
`labkit.analysis.collisions`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from labkit.analysis.collisions import collisions
from labkit.analysis.concurrency import windows
from labkit.analysis.format import plain, seconds
from labkit.analysis.interference import interference
from labkit.analysis.prefill_rate import PrefillRate, prefill_rates
from labkit.analysis.stalls import alone
from labkit.analysis.tables import floats
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted, records
from labkit.plots.collisions import CollisionsInfo, collisions_info
from labkit.plots.interference import TimelineInfo, timeline_info
from labkit.store.runs import Run

FEW = 5
"""Below so many collisions nothing is said of a prediction."""
_WITHIN = 1.5
"""A prediction of a time holds when the median of what came over what was predicted is no farther off than this."""


class Company(NamedTuple):
    """A run under load. `levels`: a LoadRow per arm and number of agents; `met`: a CollisionRow per prompt and stream;
    `rates`: tokens a second of an arm's prefill, alone."""

    steps: pd.DataFrame
    chunks: pd.DataFrame
    spans: pd.DataFrame
    levels: pd.DataFrame
    met: pd.DataFrame
    rates: dict[str, PrefillRate]

    @property
    def most(self) -> int:
        """The most agents that were at work; 0 without a window."""
        return int(self.spans["agents"].max()) if len(self.spans) else 0


def in_company(run: Run) -> Company:
    """Everything that the lesson asks of a run of `labkit run interference`."""
    steps, chunks, events = run.steps(), run.chunks(), run.events()
    spans = windows(events)
    return Company(
        steps=steps,
        chunks=chunks,
        spans=spans,
        levels=interference(steps, chunks, spans),
        met=collisions(steps, chunks, spans),
        rates=prefill_rates(steps, events, spans),
    )


def spans_shown(load: Company) -> pd.DataFrame:
    """The windows in which requests count, for readers: seconds since the run began."""
    names = {"arm": "arm", "agents": "agents", "sent": "requests sent", "start": "start (s)", "end": "end (s)"}
    return load.spans[[*names]].rename(columns=names).round(1)


def moment(load: Company, *arms: str, agents: int | None = None) -> TimelineInfo:
    """The clearest moment of each of these arms with so many agents (None: with most), chunk by chunk."""
    steps, chunks = (table[table["arm"].isin(arms)] for table in (load.steps, load.chunks))
    return timeline_info(steps, chunks, alone(load.chunks, load.spans), agents or load.most)


def dots(load: Company, *arms: str, lines: tuple[str, ...] = ()) -> CollisionsInfo:
    """Every prompt beside a stream in these arms; the predicted line of those in `lines`."""
    rates = {arm: load.rates[arm].per_s for arm in lines if arm in load.rates}
    return collisions_info(load.met[load.met["arm"].isin(arms)], rates)


def longest_prompts(load: Company, arm: str, agents: int = 2, most: int = 6) -> pd.DataFrame:
    """With so many agents, the longest prompts beside a stream: the gap that was predicted, and the one that came."""
    mine = load.met[(load.met["arm"] == arm) & (load.met["agents"] == agents)]
    mine = mine.sort_values("tokens", ascending=False).head(most)
    rate = load.rates.get(arm)
    return pd.DataFrame(
        {
            "new prompt tokens": mine["tokens"],
            "predicted gap": [seconds(_promised(row, rate)) for row in records(mine)],
            "longest gap": mine["gap_s"].map(seconds),
            "usual gap": mine["usual_s"].map(seconds),
        }
    ).reset_index(drop=True)


def stalls_last_as_predicted(load: Company, arm: str) -> Outcome:
    """Whether a gap beside a prompt is the usual one and the prompt's tokens over the rate of prefill."""
    mine, rate = load.met[load.met["arm"] == arm], load.rates.get(arm)
    if rate is None or not len(mine):
        return unmeasured(f"no prompt of {arm} was computed beside one other stream")
    ratios = floats(mine["gap_s"]) / np.array([_promised(row, rate) for row in records(mine)], dtype=np.float64)
    low, middle, high = np.percentile(ratios, [25, 50, 75])
    tokens = mine["tokens"]
    saw = (
        f"beside prompts of {tokens.min()} to {tokens.max()} new tokens the longest gap was {plain(middle)} times the "
        f"predicted one (median; half of them {plain(low)} to {plain(high)} times), "
        f"n = {counted(len(mine), 'pair')} of a prompt and a stream under {arm}"
    )
    return Outcome(None if len(mine) < FEW else bool(1 / _WITHIN <= middle <= _WITHIN), saw)


def _promised(row: dict[str, Any], rate: PrefillRate | None) -> float | None:
    return None if rate is None else float(row["usual_s"] + row["tokens"] / rate.per_s)


def long_prompts(load: Company, arm: str, tokens: int, agents: Collection[int]) -> pd.DataFrame:
    """The collisions of prompts of more than so many new tokens, with these numbers of agents."""
    met = load.met
    return met[(met["arm"] == arm) & (met["tokens"] > tokens) & met["agents"].isin(agents)]
