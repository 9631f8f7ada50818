"""Two runs in one figure, one below the other, each on its own clock from 0: what "flip and repeat" shows."""

from __future__ import annotations

from dataclasses import replace

from labkit.experiments.dashboard.lane_words import MARKS
from labkit.plots.lane_records import LanesInfo


def side_by_side(first: LanesInfo, second: LanesInfo, tags: tuple[str, str]) -> LanesInfo:
    """Two runs, one below the other, each on its own clock from 0. `tags`: what tells their lanes apart."""
    if first.caption.empty or second.caption.empty:
        return second if first.caption.empty else first
    below = len(first.lanes)
    names = [replace(lane, label=f"{lane.label} ({tag})") for run, tag in zip((first, second), tags, strict=True)
             for lane in run.lanes]  # fmt: skip
    note = f"Two runs, each on its own clock from 0. {MARKS}"
    words = replace(second.caption, note=note, alt=f"{tags[0]}: {first.caption.alt} {tags[1]}: {second.caption.alt}")
    moved = {
        name: tuple(replace(each, lane=each.lane + below) for each in getattr(second, name))
        for name in ("spans", "steps", "stretches", "flights")
    }
    both = {name: getattr(first, name) + rows for name, rows in moved.items()}
    return replace(second, caption=words, lanes=tuple(names), end=max(first.end, second.end), **both)
