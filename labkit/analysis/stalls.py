"""When a stream stands still, and whether another agent's prefill was why.

A *stall* is a gap between chunks longer than three times the arm's own median gap with one agent, and longer than
0.2 s: what a reader notices. What it lost is the part beyond that median. It is put down to *interference* when another
agent of the same window was between its send and its first token meanwhile. That is a coincidence in time, and where
somebody is always prefilling every stall coincides; `overlapped` says how often an ordinary gap does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from labkit.analysis.concurrency import LOAD_KEY
from labkit.analysis.latency import STREAM_KEY, itl
from labkit.analysis.tables import floats, measured, numbers, typed_frame
from labkit.core.columns import column
from labkit.core.records import Record

Bools = npt.NDArray[np.bool_]
TIMES_ALONE = 3.0
SHORTEST_S = 0.2


@dataclass(frozen=True, kw_only=True)
class Gap(Record):
    """One gap between two chunks of a stream."""

    arm: str = column("string", "", "label of the arm")
    condition: str = column("string", "", "the load")
    repeat: int = column("int64", "", "which window of this load")
    recording: str = column("string", "", "recording that was replayed")
    agent: str = column("string", "", "the agent whose stream it is")
    turn: int = column("int64", "", "position of the step in its task")
    start: float = column("float64", "s", "the chunk before came, since the run's start")
    end: float = column("float64", "s", "the chunk after came")
    gap_s: float = column("float64", "s", "length")
    stall: bool = column("bool", "", "whether it is a stall")
    lost_s: float = column("float64", "s", "of a stall, what is beyond the arm's median gap with one agent; else 0")
    overlapped: bool = column("bool", "", "whether another agent waited for its first token meanwhile")


def alone(chunks: pd.DataFrame, spans: pd.DataFrame) -> dict[str, float]:
    """Each arm's median gap (s) at the fewest agents that it was measured with. `spans`: of `concurrency.windows`."""
    agents = dict(zip(spans["condition"], spans["agents"], strict=True))
    found = itl(measured(chunks))
    found = found.assign(agents=found["condition"].astype(str).map(agents))
    least = found[found["agents"] == found.groupby("arm")["agents"].transform("min")]
    return {str(arm): float(value) for arm, value in least.groupby("arm")["itl_s"].median().items()}


def threshold(alone_s: float) -> float:
    """Seconds above which a gap is a stall."""
    return max(TIMES_ALONE * alone_s, SHORTEST_S)


def gaps(steps: pd.DataFrame, chunks: pd.DataFrame, alone_s: Mapping[str, float]) -> pd.DataFrame:
    """Every gap of every measured stream; columns as Gap declares them. `alone_s`: as `alone` returns it.

    `steps` with warm-up: a prefill of the ramp is in the way of others, too.
    """
    counted = measured(chunks)
    key = [*STREAM_KEY, "index"]
    table = itl(counted).merge(counted[[*key, "t"]], on=key, validate="one_to_one")
    table = table.rename(columns={"t": "end", "itl_s": "gap_s"})
    gap, typical = floats(table["gap_s"]), floats(table["arm"].map(alone_s))
    stall = gap > np.maximum(TIMES_ALONE * typical, SHORTEST_S)
    lost = np.where(stall, gap - typical, 0.0)
    table = table.assign(start=table["end"] - gap, stall=stall, lost_s=lost)
    table = table.assign(overlapped=_overlapped(table, steps))
    like = typed_frame(Gap, [])
    return table[list(like)].astype(like.dtypes.to_dict())


def lane(agents: pd.Series[str]) -> pd.Series[str]:
    """Whose stream it is, whichever recording the agent is at: `2` of `2.1`."""
    return agents.str.split(".").str[0]


def _overlapped(table: pd.DataFrame, steps: pd.DataFrame) -> pd.Series[bool]:
    found = pd.Series(False, index=table.index)
    windows = dict(iter(steps.groupby(LOAD_KEY)))
    for key, rows in table.groupby(LOAD_KEY):
        found.loc[rows.index] = np.asarray(waits_beside(rows, windows[key]).any(axis=1), dtype=np.bool_)
    return found


def waits_beside(rows: pd.DataFrame, steps: pd.DataFrame) -> Bools:
    """Of one window, for each gap (row) and step (column): whether the step is of another agent and was between its
    send and its first token (or its failure) meanwhile."""
    first, ended = numbers(steps, "t_first_token"), numbers(steps, "t_end")
    until = np.where(np.isnan(first), ended, first)
    other = lane(rows["agent"]).to_numpy()[:, None] != lane(steps["agent"]).to_numpy()[None, :]
    sent = numbers(steps, "t_send")[None, :] < floats(rows["end"])[:, None]
    waits = until[None, :] > floats(rows["start"])[:, None]
    return np.asarray(other & sent & waits, dtype=np.bool_)
