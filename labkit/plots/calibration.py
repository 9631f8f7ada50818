"""Does the interval cover the truth as often as it says, and what would other methods have claimed? Dots by task count.

From the table of labkit.analysis.simulation.calibration: shares over simulated experiments whose truth is planted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import percent
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import counted
from labkit.plots.theme import GRID, MUTED, TEXT, Mode, part_color

View = Literal["coverage", "false_positives"]
GOOD: dict[View, tuple[float, float]] = {"coverage": (0.93, 0.97), "false_positives": (0.0, 0.05)}
_TITLES: dict[View, str] = {
    "coverage": "How often does the 95 % interval hold the truth?",
    "false_positives": "How often is an effect claimed where there is none?",
}
_AXES: dict[View, str] = {
    "coverage": "share of intervals with the truth inside",
    "false_positives": "share of p below 0.05 where the effect is nil",
}
_SYMBOLS = ("diamond", "square", "circle", "star", "cross")


@dataclass(frozen=True, kw_only=True)
class TaskDots:
    """One number of tasks: a share per label, None where the method gives none."""

    tasks: int
    shares: tuple[float | None, ...]


@dataclass(frozen=True, kw_only=True)
class CalibrationInfo:
    """The labels, top to bottom (worlds for coverage, methods for false positives), and the dots."""

    caption: Caption
    view: View
    labels: tuple[str, ...]
    dots: tuple[TaskDots, ...]


def calibration_info(table: pd.DataFrame, view: View, *, method: str = "", scenario: str = "") -> CalibrationInfo:
    """Coverage of one `method` in every world, or false positives of every method in one `scenario`.

    `table`: columns as labkit.analysis.simulation.CalibrationRow declares them.
    """
    by, kept = (
        ("scenario", table["method"] == method) if view == "coverage" else ("method", table["scenario"] == scenario)
    )
    kept_rows = table[kept]
    labels = tuple(dict.fromkeys(map(str, kept_rows[by])))
    sizes = sorted({int(n) for n in kept_rows["tasks"]})
    dots = tuple(_dots(n, kept_rows[kept_rows["tasks"] == n].set_index(by)[view], labels) for n in sizes)
    return CalibrationInfo(caption=_caption(kept_rows, view, labels, dots), view=view, labels=labels, dots=dots)


def calibration_figure(info: CalibrationInfo, mode: Mode = "light") -> go.Figure:
    """Dots on one line per label; the band is what is aimed for."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=90 + 34 * len(info.labels))
    low, high = GOOD[info.view]
    figure.add_vrect(x0=low, x1=high, fillcolor=part_color("moved", mode), opacity=0.16, line_width=0, layer="below")
    for one, symbol in zip(info.dots, _SYMBOLS, strict=False):
        marker = {
            "symbol": symbol,
            "size": 10,
            "color": part_color("rest", mode),
            "line": {"color": TEXT[mode], "width": 1},
        }
        figure.add_scatter(
            x=list(one.shares),
            y=list(info.labels),
            mode="markers",
            name=counted(one.tasks, "task"),
            marker=marker,
            hovertemplate="%{y}: %{x:.1%}",
        )
    figure.update_xaxes(title=_AXES[info.view], tickformat=".0%", range=_range(info))
    figure.update_yaxes(autorange="reversed", gridcolor=GRID[mode], tickfont={"color": MUTED[mode]}, ticksuffix=" ")
    return figure


def _dots(tasks: int, shares: pd.Series[float], labels: tuple[str, ...]) -> TaskDots:
    values = shares.reindex(list(labels))
    return TaskDots(tasks=tasks, shares=tuple(None if pd.isna(one) else float(one) for one in values))


def _range(info: CalibrationInfo) -> list[float]:
    known = [share for one in info.dots for share in one.shares if share is not None]
    return [max(min(known) - 0.03, -0.02), min(max(*known, GOOD[info.view][1]) + 0.03, 1.02)]


def _caption(rows: pd.DataFrame, view: View, labels: tuple[str, ...], dots: tuple[TaskDots, ...]) -> Caption:
    title = _TITLES[view]
    if rows.empty:
        return Caption(title=title, empty="No simulated experiment yet: make calibrate.")
    low, high = GOOD[view]
    aim = f"Band: {percent(low)} to {percent(high)}."
    found = (f"{label}: {_spread([one.shares[n] for one in dots])}" for n, label in enumerate(labels))
    note = f"{int(rows['experiments'].max()):,} simulated experiments a dot; mean over the terms. {aim}"
    return Caption(title=title, note=note, alt=f"{_AXES[view]}, by number of tasks. " + "; ".join(found))


def _spread(shares: list[float | None]) -> str:
    known = [share for share in shares if share is not None]
    return f"{percent(min(known))} to {percent(max(known))}" if known else "none"
