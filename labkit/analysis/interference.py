"""What company costs an agent: one row per arm and number of agents, each beside the same arm with the fewest.

Times are of the requests that count (see `experiments.load`): finished ones for TTFT, all gaps that arrived for ITL.
Stalls are those of finished streams: of a broken one nobody knows how many tokens it was to have. A window that broke
off, since its engine died, is in no number: its time is not known.
Tokens per second are those that arrived between start and end of the windows, whosever they are. Intervals are over
agent-runs (see `agent_runs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from labkit.analysis.agent_runs import MIN_RUNS, Interval, by_run, interval
from labkit.analysis.arms import in_order
from labkit.analysis.cache import cache_use
from labkit.analysis.concurrency import LOAD_KEY, concurrency, mean_in_flight, of_windows
from labkit.analysis.latency import percentile, ttft
from labkit.analysis.load_row import LoadRow
from labkit.analysis.served import RUN_KEY
from labkit.analysis.stalls import alone, gaps, threshold
from labkit.analysis.tables import Floats, floats, is_finished, measured, numbers, share, typed_frame

_STREAM = [*LOAD_KEY, "recording", "agent", "turn"]
"""What tells the streams of a table of gaps apart."""


def interference(steps: pd.DataFrame, chunks: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """One row per arm and level; columns as LoadRow declares them. `spans`: as `concurrency.windows` returns it."""
    if not len(spans):
        return typed_frame(LoadRow, [])
    chunks = of_windows(chunks, spans)
    typical = alone(chunks, spans)
    flying = mean_in_flight(concurrency(steps, spans))
    tables = _Tables(of_windows(measured(steps), spans), gaps(steps, chunks, typical), chunks)
    rows = [
        row for arm in in_order(spans["arm"]) for row in _arm(arm, tables, spans[spans["arm"] == arm], typical, flying)
    ]
    return typed_frame(LoadRow, rows)


@dataclass(frozen=True)
class _Tables:
    """Steps that count, gaps of their streams, and every chunk that came."""

    steps: pd.DataFrame
    gaps: pd.DataFrame
    chunks: pd.DataFrame

    def of(self, arm: str, condition: str) -> _Tables:
        """The rows of one arm under one load."""
        return _Tables(
            *(t[(t["arm"] == arm) & (t["condition"] == condition)] for t in (self.steps, self.gaps, self.chunks))
        )


def _arm(
    arm: str, tables: _Tables, spans: pd.DataFrame, typical: Mapping[str, float], flying: pd.Series[float]
) -> list[LoadRow]:
    rows: list[LoadRow] = []
    for condition, level in spans.groupby("condition"):
        own = tables.of(arm, str(condition))
        if len(own.steps):
            rows.append(_row(arm, own, level, typical.get(arm), float(flying[(arm, condition)])))
    rows.sort(key=lambda row: row.agents)
    return [_beside(row, rows[0]) for row in rows]


def _row(arm: str, own: _Tables, level: pd.DataFrame, typical: float | None, flying: float) -> LoadRow:
    steps, found = own.steps, own.gaps
    done = steps[is_finished(steps)]
    first = done.assign(ttft_s=ttft(done))
    ttft_range = interval(by_run(first, RUN_KEY, ["ttft_s"]), _median)
    itl_range = interval(by_run(found, RUN_KEY, ["gap_s"]), _p99)
    runs = steps.groupby(RUN_KEY).ngroups
    return LoadRow(
        arm=arm,
        agents=int(level["agents"].iloc[0]),
        n_windows=len(level),
        n_agent_runs=runs,
        n_sent=len(steps),
        n_failed=len(steps) - len(done),
        in_flight=flying,
        ttft_p50_s=percentile(first["ttft_s"], 50),
        ttft_low_s=ttft_range.low,
        ttft_high_s=ttft_range.high,
        ttft_p99_s=percentile(first["ttft_s"], 99),
        itl_p50_s=percentile(found["gap_s"], 50),
        itl_p99_s=percentile(found["gap_s"], 99),
        itl_low_s=itl_range.low,
        itl_high_s=itl_range.high,
        n_gaps=len(found),
        stall_s=None if typical is None else threshold(typical),
        **_stalls(done, _of_streams(found, done)),
        hit_rate=cache_use(done).hit_rate,
        hit_ceiling=share(numbers(level, "ceiling_tokens"), numbers(level, "prompt_tokens")),
        tokens_per_s=_rate(own.chunks, level),
        too_few=runs < MIN_RUNS,
    )


def _of_streams(found: pd.DataFrame, steps: pd.DataFrame) -> pd.DataFrame:
    """The gaps of these steps."""
    mine = pd.MultiIndex.from_frame(found[_STREAM].astype(object))
    return found[mine.isin(pd.MultiIndex.from_frame(steps[_STREAM].astype(object)))]


def _stalls(done: pd.DataFrame, found: pd.DataFrame) -> dict[str, Any]:
    """Of finished steps and their gaps. The rate is over those that told their tokens."""
    stalls, others = found[found["stall"]], found[~found["stall"]]
    told = done[done["completion_tokens"].notna()]
    counted = _of_streams(stalls, told)
    generated = float(numbers(told, "completion_tokens").sum())
    length = float(found["gap_s"].sum())
    around = _per_1000(told, counted)
    return {
        "n_stalls": len(stalls),
        "stalls_per_1000": 1000 * len(counted) / generated if generated else None,
        "stalls_low": around.low,
        "stalls_high": around.high,
        "lost_s": float(stalls["lost_s"].sum()),
        "lost_share": float(stalls["lost_s"].sum()) / length if length else None,
        "stalls_overlapped": float(stalls["overlapped"].mean()) if len(stalls) else None,
        "gaps_overlapped": float(others["overlapped"].mean()) if len(others) else None,
    }


def _per_1000(steps: pd.DataFrame, stalls: pd.DataFrame) -> Interval:
    """Of the ratio of sums: stalls over tokens, each agent-run with both."""
    tokens = steps.groupby(RUN_KEY)["completion_tokens"].sum()
    counts = stalls.groupby(RUN_KEY).size().reindex(tokens.index, fill_value=0)
    runs = [np.array([[n, of]], dtype=np.float64) for n, of in zip(counts, floats(tokens), strict=True)]
    return interval(runs, lambda rows: 1000 * float(rows[:, 0].sum()) / max(1.0, float(rows[:, 1].sum())))


def _rate(chunks: pd.DataFrame, level: pd.DataFrame) -> float | None:
    """Tokens that arrived within the windows, per second; None where the engine does not say how many came."""
    total, seconds = 0.0, 0.0
    for span in level.to_dict("records"):
        here = chunks[(chunks["repeat"] == span["repeat"]) & chunks["t"].between(span["start"], span["end"])]
        total += float(floats(here["tokens"]).sum())
        seconds += float(span["end"] - span["start"])
    return None if np.isnan(total) else total / seconds


def _beside(row: LoadRow, least: LoadRow) -> LoadRow:
    values = row.to_dict()
    for name, of in (("ttft_ratio", "ttft_p50_s"), ("itl_ratio", "itl_p99_s")):
        mine, other = values[of], getattr(least, of)
        values[name] = mine / other if mine is not None and other else None
    return LoadRow.from_dict(values)


def _median(rows: Floats) -> float:
    return float(np.nanmedian(rows))


def _p99(rows: Floats) -> float:
    return float(np.nanpercentile(rows, 99))
