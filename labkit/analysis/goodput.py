"""How many requests were served well enough, and at which rate.

A request is *good* when it ended without an error, its first token came within `ttft_s`, and 99 % of the gaps between
its chunks were at most `itl_s`. The denominator is what was **sent**: a failed request is not good. A level of load
holds the objective when the good share of its requests is at least `share`; with a share of 90 %, that is TTFT p90 and
the like at once.

Two numbers are called goodput. DistServe's (arXiv 2401.09670) is the highest rate at which the objective holds: see
`capacity`. AIPerf's and vLLM's is the rate of good requests at one load: `good_per_s` here. Rates are per engine,
whatever it consists of, and over the time in which requests that count were sent. A window that broke off, since its
engine died, is in no number: its time is not known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.attainment import Attained, Counts, attained
from labkit.analysis.concurrency import of_windows
from labkit.analysis.latency import STREAM_KEY, itl, percentile, ttft
from labkit.analysis.slo import Slo
from labkit.analysis.tables import floats, is_finished, measured, typed_frame
from labkit.core.columns import column
from labkit.core.records import Record

RUN_KEY = ["recording", "agent", "repeat"]
"""What tells the agent-runs of one load apart: an agent, and which recording of its own it is at."""


@dataclass(frozen=True, kw_only=True)
class GoodputRow(Record):
    """One arm at one level of load."""

    arm: str = column("string", "", "label of the arm")
    agents: int = column("int64", "", "agents at work")
    n_windows: int = column("int64", "", "windows of this load")
    n_agent_runs: int = column("int64", "", "recordings begun; the cluster of the interval")
    n_sent: int = column("int64", "", "requests sent in the windows")
    n_failed: int = column("int64", "", "of these, without a whole answer")
    n_good: int = column("int64", "", "of these, good")
    attainment: float = column("float64", "", "good / sent")
    low: float = column("float64", "", "lower end of its 95 % interval")
    high: float = column("float64", "", "upper end")
    ttft_p90_s: float | None = column(
        "float64", "s", "TTFT that 90 % of what was sent kept; null when more than 10 % failed", nullable=True
    )
    itl_p99_s: float | None = column("float64", "s", "99th percentile of gaps, pooled", nullable=True)
    sent_per_s: float = column("float64", "1/s", "requests sent per second of the windows")
    good_per_s: float = column("float64", "1/s", "good requests per second of the windows")
    holds: bool = column("bool", "", "whether attainment is at least the objective's share")


def good(steps: pd.DataFrame, chunks: pd.DataFrame, slo: Slo) -> pd.Series[bool]:
    """Which steps were good, by the index of `steps`. A reply of one chunk has no gap that could be too long."""
    gaps = itl(chunks).groupby(STREAM_KEY)["itl_s"].quantile(0.99).rename("gap_s").reset_index()
    worst = floats(steps[STREAM_KEY].merge(gaps, on=STREAM_KEY, how="left", validate="one_to_one")["gap_s"])
    in_time = floats(ttft(steps)) <= slo.ttft_s
    smooth = np.nan_to_num(worst, nan=0.0) <= slo.itl_s
    return pd.Series(is_finished(steps).to_numpy(dtype=bool) & in_time & smooth, index=steps.index)


def goodput(steps: pd.DataFrame, chunks: pd.DataFrame, spans: pd.DataFrame, slo: Slo) -> pd.DataFrame:
    """One row per arm and level; columns as GoodputRow declares them. `spans`: as `concurrency.windows` returns it."""
    steps, chunks = of_windows(measured(steps), spans), of_windows(measured(chunks), spans)
    steps = steps.assign(good=good(steps, chunks, slo))
    rows = [row for arm in in_order(spans["arm"]) for row in _arm(arm, steps, itl(chunks), spans, slo)]
    return typed_frame(GoodputRow, rows)


def by_run(steps: pd.DataFrame) -> tuple[Counts, Counts]:
    """Counts of good and of sent requests by agent-run. `steps` have a column `good`."""
    runs = steps.groupby(RUN_KEY)["good"]
    return np.asarray(runs.sum(), dtype=np.int64), np.asarray(runs.size(), dtype=np.int64)


def _arm(arm: str, steps: pd.DataFrame, gaps: pd.DataFrame, spans: pd.DataFrame, slo: Slo) -> list[GoodputRow]:
    of_arm = steps[steps["arm"] == arm]
    mine = spans[spans["arm"] == arm]
    found = [(int(at), mine[mine["agents"] == at]) for at in sorted(mine["agents"].unique())]
    levels = [(at, level, of_arm[of_arm["condition"].isin(set(level["condition"]))]) for at, level in found]
    levels = [each for each in levels if len(each[2])]
    shares = attained([by_run(sent) for *_, sent in levels])
    own = gaps[gaps["arm"] == arm]
    return [
        _row(arm, at, level, sent, own, share, slo) for (at, level, sent), share in zip(levels, shares, strict=True)
    ]


def _row(
    arm: str,
    agents: int,
    level: pd.DataFrame,
    sent: pd.DataFrame,
    gaps: pd.DataFrame,
    share: Attained,
    slo: Slo,
) -> GoodputRow:
    seconds = float((level["end"] - level["start"]).sum())
    low, high = share.interval
    done = is_finished(sent).to_numpy(dtype=bool)
    first = float(np.percentile(np.where(done, floats(ttft(sent)), np.inf), 90, method="inverted_cdf"))
    return GoodputRow(
        arm=arm,
        agents=agents,
        n_windows=len(level),
        n_agent_runs=len(by_run(sent)[0]),
        n_sent=share.sent,
        n_failed=int((~done).sum()),
        n_good=share.good,
        attainment=share.share,
        low=low,
        high=high,
        ttft_p90_s=first if np.isfinite(first) else None,
        itl_p99_s=percentile(gaps[gaps["condition"].isin(set(level["condition"]))]["itl_s"], 99),
        sent_per_s=share.sent / seconds,
        good_per_s=share.good / seconds,
        holds=share.share >= slo.share,
    )
