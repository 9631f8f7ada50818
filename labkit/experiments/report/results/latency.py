"""How the times lie: percentiles of the first token, of the gaps between chunks and of the whole reply, per arm."""

from __future__ import annotations

from typing import Any

import pandas as pd

from labkit.analysis.chunks import chunk_sizes
from labkit.analysis.format import count, percent, seconds
from labkit.analysis.latency import Spread, e2e, itl, spread, ttft
from labkit.analysis.tables import is_finished
from labkit.experiments.compared import Part
from labkit.experiments.report.blocks import Block, Grid, More
from labkit.experiments.report.english import records
from labkit.experiments.report.material import Material
from labkit.experiments.report.results.by_cache import by_cache

_CHUNKS = "A gap between chunks of several tokens is no time of a token: see TPOT for that."
_HEAD = ("arm", "condition", "n", "mean", "p50", "p95", "p99", "max")


def latency(material: Material) -> tuple[Block, ...]:
    """Three tables; an arm and condition a row. Nothing without a finished request."""
    return by_cache(material, "Times", lambda part: _part(part, material.arms))


def _part(part: Part, arms: list[str]) -> tuple[Block, ...]:
    done = part.steps[is_finished(part.steps)]
    if not len(done):
        return ()
    gaps = itl(part.chunks)
    first, whole = done.assign(value=ttft(done)), done.assign(value=e2e(done))
    return (
        _grid("Time to first token, n requests", first, arms),
        _grid("Gap between chunks (ITL), n gaps, all streams pooled", gaps.assign(value=gaps["itl_s"]), arms),
        _grid("End to end, n requests", whole, arms),
        *_sizes(part.chunks),
    )


def _sizes(chunks: pd.DataFrame) -> tuple[Block, ...]:
    """How many tokens came in a chunk; nothing where no engine told token ids."""
    rows = records(chunk_sizes(chunks))
    cells = tuple((row["arm"], *_size(row)) for row in rows)
    grid = Grid(("arm", "tokens in a chunk", "chunks", "of the chunks", "of the tokens"), cells, note=_CHUNKS)
    return (More("How many tokens came in a chunk", (grid,)),) if rows else ()


def _size(row: dict[str, Any]) -> tuple[str, ...]:
    return (str(row["tokens"]), count(row["n"]), percent(row["share"]), percent(row["share_of_tokens"]))


def _grid(caption: str, rows: pd.DataFrame, arms: list[str]) -> Grid:
    several = bool((rows["condition"] != "").any())
    cells = []
    for arm in arms:
        of_arm = rows[rows["arm"] == arm]
        for condition in of_arm["condition"].unique():
            one = spread(of_arm.loc[of_arm["condition"] == condition, "value"])
            cells.append((arm, *([condition] if several else []), *_numbers(one)))
    head = _HEAD if several else (_HEAD[0], *_HEAD[2:])
    return Grid(head, tuple(cells), caption, words=(0, 1) if several else (0,))


def _numbers(of: Spread) -> tuple[str, ...]:
    return (count(of.n), *(seconds(value) for value in (of.mean, of.p50, of.p95, of.p99, of.max)))
