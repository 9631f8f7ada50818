"""Two runs in one figure, one below the other, each on its own clock from 0: what "flip and repeat" shows.

Where one of them has too many steps to draw each, both are drawn as cells of one width: a heat map has one scale of
time, and half a figure of cells beside half a figure of steps would compare nothing.
"""

from __future__ import annotations

from dataclasses import replace

from labkit.experiments.dashboard.live.lane_bins import on_one_grid
from labkit.experiments.dashboard.live.lane_words import MARKS, cells_note
from labkit.plots.lane_records import Bins, LanesInfo


def side_by_side(first: LanesInfo, second: LanesInfo, tags: tuple[str, str]) -> LanesInfo:
    """Two runs, one below the other, each on its own clock from 0. `tags`: what tells their lanes apart."""
    if first.caption.empty or second.caption.empty:
        return second if first.caption.empty else first
    if first.bins is not None or second.bins is not None:
        first, second = on_one_grid(first, second)
    below = len(first.lanes)
    names = [replace(lane, label=f"{lane.label} ({tag})") for run, tag in zip((first, second), tags, strict=True)
             for lane in run.lanes]  # fmt: skip
    note = f"Two runs, each on its own clock from 0. {_marks(second)}"
    words = replace(second.caption, note=note, alt=f"{tags[0]}: {first.caption.alt} {tags[1]}: {second.caption.alt}")
    moved = {
        name: tuple(replace(each, lane=each.lane + below) for each in getattr(second, name))
        for name in ("spans", "steps", "stretches", "flights")
    }
    both = {name: getattr(first, name) + rows for name, rows in moved.items()}
    end = max(first.end, second.end)
    return replace(second, caption=words, lanes=tuple(names), end=end, bins=_below(first.bins, second.bins), **both)


def _below(first: Bins | None, second: Bins | None) -> Bins | None:
    """The cells of the second under those of the first; both are on one grid."""
    return replace(second, cells=first.cells + second.cells) if first and second else None


def _marks(info: LanesInfo) -> str:
    return MARKS if info.bins is None else cells_note(info.bins.width)
