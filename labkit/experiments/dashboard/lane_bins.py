"""Spans as bins: for each lane and little while, the part that took most of it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from labkit.plots.lane_records import Bins
from labkit.plots.lane_words import PARTS

COUNT = 300
"""Bins a lane: no finer than a screen's pixels can show, and small enough to send."""


def binned(spans: pd.DataFrame, lanes: int, start: float, end: float) -> Bins:
    """`spans`: columns lane, part, start, end. A bin in which nothing went on is empty; else its longest part."""
    parts, width = tuple(PARTS), (end - start) / COUNT
    took = np.zeros((lanes, COUNT, len(parts)))
    lane, part, at, seconds = _shares(spans, parts, start, width)
    np.add.at(took, (lane, at, part), seconds)
    cells = np.where(took.max(axis=2) > 0, took.argmax(axis=2) + 1, 0).astype(np.uint8)
    return Bins(start=start, width=width, parts=parts, cells=tuple(row.tobytes() for row in cells))


def _shares(
    spans: pd.DataFrame, parts: tuple[str, ...], start: float, width: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every span cut at the edges of bins: lane, part, bin and seconds of each piece."""
    begin = np.clip((spans["start"].to_numpy(dtype=np.float64) - start) / width, 0, COUNT)
    end = np.clip((spans["end"].to_numpy(dtype=np.float64) - start) / width, 0, COUNT)
    first, last = np.minimum(begin.astype(int), COUNT - 1), np.minimum(end.astype(int), COUNT - 1)
    pieces = last - first + 1
    of = np.repeat(np.arange(len(spans)), pieces)
    at = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces) + first[of]
    seconds = (np.minimum(end[of], at + 1) - np.maximum(begin[of], at)) * width
    places = spans["part"].map({part: place for place, part in enumerate(parts)}).to_numpy(dtype=int)
    return spans["lane"].to_numpy(dtype=int)[of], places[of], at, np.maximum(seconds, 0.0)
