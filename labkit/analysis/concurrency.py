"""How many requests were in flight, for how long: whether a load was the load that was meant.

A closed loop ends under-loaded, and one whose agents wait for tools or for the client is never loaded at all. The
histogram says so. It is computed from when requests were sent and when they ended, warm-up rows included: they were
load, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from labkit.analysis.tables import Floats, numbers, typed_frame
from labkit.core.columns import column
from labkit.core.records import Record

LOAD_KEY = ["arm", "condition", "repeat"]
"""What tells the windows of a run apart."""


@dataclass(frozen=True, kw_only=True)
class WindowRow(Record):
    """One steady window: `sent` requests left between `start` and `end`, and the last of them ended at `close`."""

    arm: str = column("string", "", "label of the arm")
    condition: str = column("string", "", "the load, such as `agents=4`")
    repeat: int = column("int64", "", "which window of this load, from 0")
    agents: int = column("int64", "", "agents that were at work")
    start: float = column("float64", "s", "every agent had had its first answer, since the run's start")
    end: float = column("float64", "s", "from here on nothing that was sent counts")
    close: float = column("float64", "s", "the last request that counts has ended; the load was kept up until then")
    sent: int = column("int64", "", "requests that count")
    cut: int = column("int64", "", "requests that were under way at the close and were cut off; none of them counts")
    gaps: bool = column("bool", "", "whether the recorded time of tools was waited for")
    prompt_tokens: int | None = column("int64", "tokens", "prompts of the requests that count", nullable=True)
    ceiling_tokens: int | None = column(
        "int64", "tokens", "of these, the most that an infinite cache of whole blocks could serve", nullable=True
    )


@dataclass(frozen=True, kw_only=True)
class ConcurrencyRow(Record):
    """How long so many requests were in flight."""

    arm: str = column("string", "", "label of the arm")
    condition: str = column("string", "", "the load")
    repeat: int = column("int64", "", "which window of this load")
    in_flight: int = column("int64", "", "requests in flight")
    seconds: float = column("float64", "s", "time with exactly so many")
    share: float = column("float64", "", "of the window, 0 to 1")


def windows(events: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The `window` events of a run as a table; columns as WindowRow declares them."""
    return typed_frame(WindowRow, [WindowRow.from_dict(dict(each)) for each in events if each["type"] == "window"])


def of_windows(table: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """The rows of `table` (steps or chunks) whose window is one of `spans`.

    A window that broke off has no end, so nobody knows over how much time its rows are: they are left out.
    """
    mine = pd.MultiIndex.from_frame(table[LOAD_KEY].astype(object))
    return table[mine.isin(pd.MultiIndex.from_frame(spans[LOAD_KEY].astype(object)))]


def concurrency(steps: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """The histogram of each window between its start and its end; columns as ConcurrencyRow declares them.

    `spans`: as `windows` returns it.
    """
    rows = [row for span in spans.to_dict("records") for row in _of(_mine(steps, span), span)]
    return typed_frame(ConcurrencyRow, rows)


def mean_in_flight(histogram: pd.DataFrame) -> pd.Series[float]:
    """Requests in flight, averaged over time, by arm and condition."""
    area = (histogram["in_flight"] * histogram["seconds"]).groupby([histogram["arm"], histogram["condition"]]).sum()
    return area / histogram.groupby(["arm", "condition"])["seconds"].sum()


def _mine(steps: pd.DataFrame, span: Mapping[Any, Any]) -> pd.DataFrame:
    same = pd.DataFrame({name: steps[name] == span[name] for name in LOAD_KEY}).all(axis=1)
    return steps.loc[same]


def _of(steps: pd.DataFrame, span: Mapping[Any, Any]) -> list[ConcurrencyRow]:
    start, end = float(span["start"]), float(span["end"])
    seconds = seconds_at(numbers(steps, "t_send"), numbers(steps, "t_end"), start, end)
    key = {name: span[name] for name in LOAD_KEY}
    return [ConcurrencyRow(**key, in_flight=n, seconds=s, share=s / (end - start)) for n, s in sorted(seconds.items())]


def seconds_at(sent: Floats, ended: Floats, start: float, end: float) -> dict[int, float]:
    """Seconds at each number of requests in flight between `start` and `end`. A request that never ended goes on."""
    ended = np.where(np.isnan(ended), np.inf, ended)
    edges = np.unique(np.clip(np.concatenate([sent, ended, [start, end]]), start, end))
    seconds: dict[int, float] = {}
    for before, after in pairwise(edges):
        n = int(((sent <= before) & (ended > before)).sum())
        seconds[n] = seconds.get(n, 0.0) + float(after - before)
    return seconds
