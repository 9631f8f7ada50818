"""A prompt that was computed while another agent's stream ran, and the longest gap that the stream had meanwhile.

An engine that computes both in one pass gives a stream its next token when the pass is over. So beside a prompt of N
new tokens the gap should be the usual one and N times the seconds that a prompt token takes. Counted are gaps beside
which one agent alone waited for its first token: with two, nobody can tell whose prompt it was; and streams that still
ran when it came, as one that ended before may never have met it. Prompts of the ramp are in the way of others, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.concurrency import LOAD_KEY, of_windows
from labkit.analysis.stalls import alone, gaps, lane, waits_beside
from labkit.analysis.tables import is_finished, numbers, typed_frame
from labkit.core.columns import column
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class CollisionRow(Record):
    """One prompt and one stream beside it."""

    arm: str = column("string", "", "label of the arm")
    agents: int = column("int64", "", "agents at work")
    agent: str = column("string", "", "whose prompt it was, with the number of its recording")
    turn: int = column("int64", "", "position of the step in its task")
    tokens: int = column("int64", "tokens", "prompt tokens that were not in the cache")
    wait_s: float = column("float64", "s", "send of the prompt to its first token")
    stream: str = column("string", "", "whose stream ran meanwhile")
    gap_s: float = column("float64", "s", "longest gap between chunks of that stream meanwhile")
    usual_s: float = column("float64", "s", "the arm's median gap with the fewest agents")


def collisions(steps: pd.DataFrame, chunks: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """One row per prompt and stream, arms in the lab's order; columns as CollisionRow declares them.

    `steps`, `chunks`: with warm-up. `spans`: as `labkit.analysis.concurrency.windows` returns it.
    """
    if not len(spans):
        return typed_frame(CollisionRow, [])
    steps, chunks = of_windows(steps, spans), of_windows(chunks, spans)
    usual = alone(chunks, spans)
    found, sent = gaps(steps, chunks, usual), dict(iter(steps.groupby(LOAD_KEY)))
    agents = dict(zip(spans["condition"], spans["agents"], strict=True))
    rows = [
        CollisionRow(agents=int(agents[str(key[1])]), usual_s=usual[str(key[0])], **row)
        for key, mine in found.groupby(LOAD_KEY)
        for row in _of_window(mine, sent[key], usual[str(key[0])])
    ]
    order = in_order(row.arm for row in rows)
    rows.sort(key=lambda row: (order.index(row.arm), row.agents))
    return typed_frame(CollisionRow, rows)


def _of_window(found: pd.DataFrame, steps: pd.DataFrame, usual_s: float) -> Iterator[dict[str, Any]]:
    """`found`: the gaps of one window; `steps`: all that was sent around it; `usual_s`: a stream may end as early."""
    beside = waits_beside(found, steps)
    single = beside.sum(axis=1) == 1
    lanes = lane(found["agent"])
    met = found[single].assign(step=beside[single].argmax(axis=1), lane=lanes[single])
    met = met.assign(until=met.groupby(["step", "lane"])["end"].transform("max"))
    longest = met.sort_values("gap_s").groupby(["step", "lane"], sort=True).tail(1)
    known, first = _known(steps), numbers(steps, "t_first_token")
    for row in longest.sort_values(["step", "lane"]).to_dict("records"):
        if known[row["step"]] and row["until"] >= first[row["step"]] - usual_s:
            yield {**_prompt(steps.iloc[row["step"]]), "stream": row["lane"], "gap_s": row["gap_s"]}


def _known(steps: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which steps got an answer and told how much of their prompt was new."""
    told = numbers(steps, "prompt_tokens") - numbers(steps, "cached_tokens") + numbers(steps, "t_first_token")
    return np.asarray(is_finished(steps).to_numpy(dtype=bool) & ~np.isnan(told))


def _prompt(step: pd.Series[Any]) -> dict[str, Any]:
    return {
        "arm": str(step["arm"]),
        "agent": str(step["agent"]),
        "turn": int(step["turn"]),
        "tokens": int(step["prompt_tokens"] - step["cached_tokens"]),
        "wait_s": float(step["t_first_token"] - step["t_send"]),
    }
