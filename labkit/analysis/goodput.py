"""How many requests were served well enough, and at which rate.

A request is *good* when it ended without an error, its first token came within `ttft_s`, and 99 % of the gaps between
its chunks were at most `itl_s` (and its tokens took at most `tpot_s` each, where that is asked). The denominator is
what was **sent**: a failed request is not good. A level of load holds the objective when the good share of its requests
is at least `share`; with a share of 90 %, that is TTFT p90 and the like at once.

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
from labkit.analysis.served import Served, is_good, served, times_of
from labkit.analysis.slo import Slo
from labkit.analysis.tables import numbers, typed_frame
from labkit.core.columns import column
from labkit.core.records import Record


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
    return is_good(times_of(steps, chunks), slo)


def goodput(steps: pd.DataFrame, chunks: pd.DataFrame, spans: pd.DataFrame, slo: Slo) -> pd.DataFrame:
    """One row per arm and level; columns as GoodputRow declares them. `spans`: as `concurrency.windows` returns it."""
    return goodput_of(served(steps, chunks, spans), slo)


def goodput_of(load: Served, slo: Slo) -> pd.DataFrame:
    """The same from what was put together before, for one objective after the other."""
    requests = load.requests.assign(good=is_good(load.requests, slo))
    rows = [row for arm in in_order(load.spans["arm"]) for row in _arm(arm, requests, load, slo)]
    return typed_frame(GoodputRow, rows)


def by_run(requests: pd.DataFrame) -> tuple[Counts, Counts]:
    """Counts of good and of sent requests by agent-run. `requests`: of `served`, with a column `good`."""
    numbers_of = pd.factorize(requests["agent_run"])[0]
    good = np.bincount(numbers_of, weights=requests["good"])
    return np.asarray(good, dtype=np.int64), np.asarray(np.bincount(numbers_of), dtype=np.int64)


def _arm(arm: str, requests: pd.DataFrame, load: Served, slo: Slo) -> list[GoodputRow]:
    of_arm = requests[requests["arm"] == arm]
    mine = load.spans[load.spans["arm"] == arm]
    found = [(int(at), mine[mine["agents"] == at]) for at in sorted(mine["agents"].unique())]
    levels = [(at, level, of_arm[of_arm["condition"].isin(set(level["condition"]))]) for at, level in found]
    levels = [each for each in levels if len(each[2])]
    shares = attained([by_run(sent) for *_, sent in levels])
    return [
        _row((arm, at), level, sent, load.itl_p99_s.get((arm, at)), share, slo)
        for (at, level, sent), share in zip(levels, shares, strict=True)
    ]


def _row(
    which: tuple[str, int],
    level: pd.DataFrame,
    sent: pd.DataFrame,
    itl_p99_s: float | None,
    share: Attained,
    slo: Slo,
) -> GoodputRow:
    seconds = float((level["end"] - level["start"]).sum())
    low, high = share.interval
    done = sent["finished"].to_numpy(dtype=bool)
    first = float(np.percentile(np.where(done, numbers(sent, "ttft_s"), np.inf), 90, method="inverted_cdf"))
    return GoodputRow(
        arm=which[0],
        agents=which[1],
        n_windows=len(level),
        n_agent_runs=len(by_run(sent)[0]),
        n_sent=share.sent,
        n_failed=int((~done).sum()),
        n_good=share.good,
        attainment=share.share,
        low=low,
        high=high,
        ttft_p90_s=first if np.isfinite(first) else None,
        itl_p99_s=itl_p99_s,
        sent_per_s=share.sent / seconds,
        good_per_s=share.good / seconds,
        holds=share.share >= slo.share,
    )
