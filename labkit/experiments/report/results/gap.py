"""How near the cache came to its ceiling, and what stood in the way: every prompt token by the name of its fate."""

from __future__ import annotations

from typing import Any

from labkit.analysis.cache_gap import NAMED, cache_gap
from labkit.analysis.format import DASH, count, missing, percent
from labkit.experiments.compared import Part
from labkit.experiments.report.blocks import Block, Grid, drawn
from labkit.experiments.report.english import records
from labkit.experiments.report.material import Material, drawable
from labkit.experiments.report.results.by_cache import by_cache
from labkit.plots.cache_gap import cache_gap_figure, cache_gap_info

_NAMES = {"template_drift": "drift"}
_WHY = tuple(_NAMES.get(name, name) for name in NAMED)
_HEAD = ("arm", "n", "prompt", "cached", "ceiling", *_WHY, "new", "of ceiling")
_NOTE = (
    "Prompt tokens, summed. Ceiling: what an infinite cache of whole blocks could have served. The columns after it "
    "say why a token that was seen before was computed again: the history was written anew (drift), only whole blocks "
    "hit (rounding), caching is off, another process had it (routing), it was evicted. New: shared with nothing before."
)


def gap(material: Material) -> tuple[Block, ...]:
    """Figure and table; nothing where the engine or the tokenizer told too little."""
    return by_cache(material, "The cache and its ceiling", _part)


def _part(part: Part) -> tuple[Block, ...]:
    steps = drawable(part.steps)
    rows = [row for row in records(cache_gap(steps)) if not missing(row["prompt"])]
    if not rows:
        return ()
    grid = Grid(_HEAD, tuple(map(_row, rows)), "The cache against its ceiling", _NOTE)
    return *drawn(cache_gap_info(steps), cache_gap_figure), grid


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    names = ("prompt", "cached", "ceiling", *NAMED, "new")
    known = not missing(row["ceiling"]) and not missing(row["cached"]) and row["ceiling"]
    reached = percent(row["cached"] / row["ceiling"]) if known else DASH
    return (row["arm"], str(row["n"]), *(count(row[name]) for name in names), reached)
