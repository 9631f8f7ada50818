"""The gaps between the chunks of each stream, at the cost of a few passes over the columns.

A run has a million chunks and twenty thousand streams. A stream's chunks stand together in the table and in order,
since they came in one event; so it is enough to see where one stream ends, and to sort streams instead of chunks. A
table in which they do not is sorted as a whole, with the same result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from labkit.analysis.tables import STEP_KEY, Floats, numbers

STREAM_KEY = ["run", "arm", *STEP_KEY, "warmup"]
"""What tells the streams of a chunk table apart."""

Positions = npt.NDArray[np.int64]


class Gaps(NamedTuple):
    """One item per gap, streams in the order of STREAM_KEY, each in the order of its chunks.

    `rows`: position of the later chunk in the table; `stream`: number of the stream, from 0; `itl_s`: the gap (s).
    """

    rows: Positions
    stream: Positions
    itl_s: Floats


def gaps_of(chunks: pd.DataFrame) -> Gaps:
    """Every gap between successive chunks of one stream."""
    order, starts = _in_streams(chunks)
    stream = np.cumsum(starts) - 1
    gaps = np.diff(numbers(chunks, "t")[order], prepend=np.nan)
    there = ~starts & ~np.isnan(gaps)
    return Gaps(order[there], stream[there], gaps[there])


def _in_streams(chunks: pd.DataFrame) -> tuple[Positions, npt.NDArray[np.bool_]]:
    """Positions of all chunks, stream after stream; and where a stream starts in that order."""
    starts = _changes(chunks)
    heads = chunks[STREAM_KEY].take(np.flatnonzero(starts)).reset_index(drop=True)
    if not _stand_together(chunks, starts, heads):
        return _sorted(chunks)
    sizes = np.diff(np.append(np.flatnonzero(starts), len(chunks)))
    by_key = np.asarray(heads.sort_values(STREAM_KEY, kind="stable").index, dtype=np.int64)
    ends = np.cumsum(sizes[by_key])
    firsts = ends - sizes[by_key]
    order = np.arange(len(chunks)) + np.repeat(np.flatnonzero(starts)[by_key] - firsts, sizes[by_key])
    sorted_starts = np.zeros(len(chunks), dtype=np.bool_)
    sorted_starts[firsts] = True
    return order, sorted_starts


def _changes(chunks: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Where a row belongs to another stream than the row before it."""
    changed = np.zeros(len(chunks), dtype=np.bool_)
    changed[:1] = True
    for name in STREAM_KEY:
        column = chunks[name].array
        values = column.codes if isinstance(column, pd.Categorical) else column
        changed[1:] |= np.asarray(values[1:] != values[:-1], dtype=np.bool_)
    return changed


def _stand_together(chunks: pd.DataFrame, starts: npt.NDArray[np.bool_], heads: pd.DataFrame) -> bool:
    """Whether each stream is one block of rows, and in order."""
    rising = np.diff(numbers(chunks, "index"), prepend=-1.0) > 0
    return bool((rising | starts).all()) and not heads.duplicated().any()


def _sorted(chunks: pd.DataFrame) -> tuple[Positions, npt.NDArray[np.bool_]]:
    rows = chunks[[*STREAM_KEY, "index"]].reset_index(drop=True)
    ordered = rows.sort_values([*STREAM_KEY, "index"], kind="stable")
    return np.asarray(ordered.index, dtype=np.int64), _changes(ordered)
