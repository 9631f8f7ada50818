"""What every request of a load was served like: the times that objectives are about, before anybody asks for one.

Chunks are many and objectives are tried one after the other, so the worst gap of each stream is looked up once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from labkit.analysis.concurrency import of_windows
from labkit.analysis.latency import STREAM_KEY, itl, percentile, tpot, ttft
from labkit.analysis.slo import Slo
from labkit.analysis.tables import floats, is_finished, measured, numbers

RUN_KEY = ["recording", "agent", "repeat"]
"""What tells the agent-runs of one load apart: an agent, and which recording of its own it is at."""
KEPT = ["arm", "condition"]


class Served(NamedTuple):
    """`requests`: KEPT, `agent_run` (a number) and the columns of `times_of`. `spans`: as `concurrency.windows` has it.

    `itl_p99_s`: (arm, agents) to the 99th percentile of gaps, pooled.
    """

    requests: pd.DataFrame
    itl_p99_s: dict[tuple[str, int], float | None]
    spans: pd.DataFrame


def served(steps: pd.DataFrame, chunks: pd.DataFrame, spans: pd.DataFrame) -> Served:
    """The requests of these windows that count. A row per request, none per chunk: small enough to be kept."""
    steps, chunks = of_windows(measured(steps), spans), of_windows(measured(chunks), spans)
    gaps = itl(chunks)
    steps = steps.assign(agent_run=steps.groupby(RUN_KEY, sort=False).ngroup())
    kept = [*KEPT, "agent_run", "finished", "ttft_s", "gap_s", "tpot_s"]
    return Served(_times(steps, gaps)[kept], _pooled(gaps, spans), spans)


def times_of(steps: pd.DataFrame, chunks: pd.DataFrame) -> pd.DataFrame:
    """`steps` with `finished`, `ttft_s`, `gap_s` (99th percentile of gaps) and `tpot_s`; NaN where there is none."""
    return _times(steps, itl(chunks))


def is_good(requests: pd.DataFrame, slo: Slo) -> pd.Series[bool]:
    """Which of them kept the objective. A reply of one chunk has no gap, and one of one token no time per token."""
    kept = numbers(requests, "ttft_s") <= slo.ttft_s
    kept &= np.nan_to_num(numbers(requests, "gap_s"), nan=0.0) <= slo.itl_s
    if slo.tpot_s is not None:
        kept &= np.nan_to_num(numbers(requests, "tpot_s"), nan=0.0) <= slo.tpot_s
    return pd.Series(requests["finished"].to_numpy(dtype=bool) & kept, index=requests.index)


def _times(steps: pd.DataFrame, gaps: pd.DataFrame) -> pd.DataFrame:
    worst = gaps.groupby(STREAM_KEY)["itl_s"].quantile(0.99).rename("gap_s").reset_index()
    found = floats(steps[STREAM_KEY].merge(worst, on=STREAM_KEY, how="left", validate="one_to_one")["gap_s"])
    times = {"ttft_s": floats(ttft(steps)), "gap_s": found, "tpot_s": floats(tpot(steps))}
    return steps.assign(finished=is_finished(steps).to_numpy(dtype=bool), **times)


def _pooled(gaps: pd.DataFrame, spans: pd.DataFrame) -> dict[tuple[str, int], float | None]:
    found: dict[tuple[str, int], float | None] = {}
    for arm in spans["arm"].unique():
        own, mine = gaps[gaps["arm"] == arm], spans[spans["arm"] == arm]
        for agents in mine["agents"].unique():
            conditions = set(mine["condition"][mine["agents"] == agents])
            found[str(arm), int(agents)] = percentile(own[own["condition"].isin(conditions)]["itl_s"], 99)
    return found
