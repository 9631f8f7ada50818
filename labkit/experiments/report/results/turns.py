"""Turn by turn: how first token and reply grow with the conversation. A mean over turns would hide both."""

from __future__ import annotations

from typing import Any

from labkit.analysis.format import seconds
from labkit.analysis.turns import by_computed, by_turn
from labkit.experiments.compared import Part
from labkit.experiments.report.blocks import Block, Grid, beside
from labkit.experiments.report.english import records
from labkit.experiments.report.material import Material, drawable
from labkit.experiments.report.results.by_cache import by_cache
from labkit.plots.per_turn import Measure, per_turn_figure, per_turn_info

_MEASURES: tuple[Measure, ...] = ("ttft", "e2e")
_HEAD = ("arm", "n", "TTFT p50", "TTFT p95", "end to end p50")


def turns(material: Material) -> tuple[Block, ...]:
    """Figures by turn; tables by turn and by computed tokens. Nothing for a single turn, nor under load."""
    if not material.n_finished or material.measured["turn"].nunique() < 2 or len(material.windows):
        return ()
    return by_cache(material, "Turn by turn", _part)


def _part(part: Part) -> tuple[Block, ...]:
    figures = beside([per_turn_info(drawable(part.steps), measure) for measure in _MEASURES], per_turn_figure)
    tables = (
        _grid("turn", records(by_turn(part.steps))),
        _grid("computed prompt tokens", records(by_computed(part.steps))),
    )
    return *figures, *(table for table in tables if table.rows)


def _grid(by: str, rows: list[dict[str, Any]]) -> Grid:
    head = (_HEAD[0], by, *_HEAD[1:])
    return Grid(head, tuple(map(_row, rows)), f"Times by {by}", words=(0, 1))


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    times = (seconds(row[name]) for name in ("ttft_p50_s", "ttft_p95_s", "e2e_p50_s"))
    return (row["arm"], row["group"], str(row["n"]), *times)
