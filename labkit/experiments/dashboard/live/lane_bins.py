"""Spans as bins: for each lane and little while, the part that took most of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from labkit.plots.lane_records import Bins, LanesInfo
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


def on_one_grid(first: LanesInfo, second: LanesInfo) -> tuple[LanesInfo, LanesInfo]:
    """Both as cells of one start and width. Whose spans are cells already keeps, of each new cell, what its middle was.

    Neither has steps to point at, nor a line for its arms: on two clocks it would be the line of neither.
    """
    start, end = min(first.start, second.start), max(first.end, second.end)
    return _on_grid(first, start, end), _on_grid(second, start, end)


def _on_grid(info: LanesInfo, start: float, end: float) -> LanesInfo:
    columns = ["lane", "part", "start", "end"]
    rows = [(each.lane, each.part, each.start, each.end) for each in info.spans]
    made = binned(pd.DataFrame(rows, columns=columns), len(info.lanes), start, end)
    if info.bins is not None:
        made = replace(made, cells=tuple(_moved(row, info.bins, made) for row in info.bins.cells))
    return replace(info, bins=made, spans=(), steps=(), stretches=())


def _moved(row: bytes, was: Bins, to: Bins) -> bytes:
    middles = to.start + (np.arange(COUNT) + 0.5) * to.width
    at = np.floor((middles - was.start) / was.width).astype(int)
    cells = np.frombuffer(row, dtype=np.uint8)
    there = (at >= 0) & (at < len(cells))
    return np.where(there, cells[np.clip(at, 0, len(cells) - 1)], 0).astype(np.uint8).tobytes()


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
