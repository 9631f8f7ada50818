"""Where does which drafter guess well, and where does it cost time? Points with their intervals, by kind or by turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.drafters import TURNS
from labkit.analysis.format import percent, times
from labkit.core.records import KINDS
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import counted
from labkit.plots.theme import FAINT, MUTED, Mode, arm_color, arm_marker, template

Measure = Literal["rate", "gain"]
By = Literal["kind", "turn"]
_TITLES: dict[tuple[Measure, By], str] = {
    ("rate", "kind"): "On which kind of step does which drafter guess well?",
    ("rate", "turn"): "Do drafters guess better as the conversation grows?",
    ("gain", "kind"): "On which kind of step does a drafter gain time?",
    ("gain", "turn"): "Early or late: when does a drafter gain time?",
}
_AXES: dict[Measure, str] = {"rate": "accepted / drafted tokens", "gain": "time without / with it (log scale)"}
_X: dict[By, str] = {"kind": "kind of step", "turn": "turn"}
_EMPTY: dict[Measure, str] = {
    "rate": "No drafts were measured: labkit run speculation does that.",
    "gain": "No step was measured both with a drafter and without: labkit run speculation does that.",
}
_HUES = (2, 3, 5, 4, 6)
"""Places in the template's colourway; symbols tell drafters apart without colour."""
_SYMBOLS = ("diamond", "triangle-up", "pentagon", "star-diamond", "cross")
_SPREAD = 0.5
_TICKS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4)


@dataclass(frozen=True, kw_only=True)
class Point:
    """One drafter on one group. `low`, `high`: 95 % interval, None where there were too few steps (`too_few`)."""

    method: str
    group: str
    value: float
    low: float | None
    high: float | None
    n: int
    too_few: bool


@dataclass(frozen=True, kw_only=True)
class DraftersInfo:
    """The points, and the groups and drafters in their order."""

    caption: Caption
    measure: Measure
    by: By
    methods: tuple[str, ...]
    groups: tuple[str, ...]
    points: tuple[Point, ...]
    arm: str = ""


def drafters_info(table: pd.DataFrame, measure: Measure = "rate", by: By = "kind", arm: str = "") -> DraftersInfo:
    """From `drafter_table` (rate) or `gain_table` (gain). What was not measured has no point.

    `arm`: the arm that all drafters are of; one that is alone has its colour.
    """
    kept = table[(table["by"] == by) & table[measure].notna()]
    points = tuple(_point(row, measure) for row in kept.to_dict("records"))
    methods = tuple(dict.fromkeys(point.method for point in points))
    return DraftersInfo(
        caption=_caption(points, measure, by),
        measure=measure,
        by=by,
        methods=methods,
        arm=arm if len(methods) == 1 else "",
        groups=_ordered(points, by),
        points=points,
    )


def drafters_figure(info: DraftersInfo, mode: Mode = "light") -> go.Figure:
    """Side by side within a group; faint where too few steps say anything. A gain of 1 is a line."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=300)
    for place, method in enumerate(info.methods):
        mine = [point for point in info.points if point.method == method]
        for few in (False, True):
            some = [point for point in mine if point.too_few is few]
            if some:
                alone = len(some) == len(mine)
                figure.add_scatter(showlegend=not few or alone, **_trace(info, some, place, mode))
    last = len(info.groups) - 1
    figure.update_xaxes(
        title=_X[info.by],
        tickvals=list(range(last + 1)),
        ticktext=list(info.groups),
        range=[-0.5, last + 0.5],
        showgrid=False,
        zeroline=False,
    )
    _y_axis(figure, info, mode)
    return figure


def _trace(info: DraftersInfo, points: list[Point], place: int, mode: Mode) -> dict[str, Any]:
    """Points of one drafter, all of them with enough steps or none; the former have bars."""
    shift = (place - (len(info.methods) - 1) / 2) * _SPREAD / max(1, len(info.methods) - 1)
    return {
        "x": [info.groups.index(point.group) + shift for point in points],
        "y": [point.value for point in points],
        "error_y": {"visible": False} if points[0].too_few else _bars(points),
        "hovertext": [_told(point, info.measure) for point in points],
        "hoverinfo": "text",
        "mode": "markers",
        "name": points[0].method,
        "legendgroup": points[0].method,
        "marker": _marker(points, place, mode, info.arm),
    }


def _y_axis(figure: go.Figure, info: DraftersInfo, mode: Mode) -> None:
    if info.measure == "rate":
        figure.update_yaxes(title=_AXES["rate"], range=[-0.03, 1.05], tickformat=".0%", dtick=0.25)
        return
    figure.update_yaxes(title=_AXES["gain"], type="log", tickvals=_TICKS, ticktext=[f"{tick:g}x" for tick in _TICKS])
    figure.add_hline(y=1, line={"color": MUTED[mode], "width": 1.5, "dash": "dot"})


def _bars(points: list[Point]) -> dict[str, Any]:
    return {
        "array": [(point.high or point.value) - point.value for point in points],
        "arrayminus": [point.value - (point.value if point.low is None else point.low) for point in points],
        "thickness": 1.5,
        "width": 5,
    }


def look(place: int, mode: Mode, arm: str = "") -> tuple[str, str]:
    """Colour and symbol of the drafter at this place. A drafter that is alone in a figure has those of its arm."""
    if arm:
        return arm_color(arm, mode), arm_marker(arm)
    return template(mode).layout.colorway[_HUES[place % len(_HUES)]], _SYMBOLS[place % len(_SYMBOLS)]


def _marker(points: list[Point], place: int, mode: Mode, arm: str) -> dict[str, Any]:
    color, symbol = look(place, mode, arm)
    return {"symbol": symbol, "size": 11, "color": color, "opacity": FAINT if points[0].too_few else 1.0}


def _point(row: Any, measure: Measure) -> Point:
    low, high = ("rate_low", "rate_high") if measure == "rate" else ("low", "high")
    return Point(
        method=row["method"],
        group=row["group"],
        value=float(row[measure]),
        low=None if pd.isna(row[low]) else float(row[low]),
        high=None if pd.isna(row[high]) else float(row[high]),
        n=int(row["n" if measure == "rate" else "n_pairs"]),
        too_few=bool(row["too_few"]),
    )


def _ordered(points: tuple[Point, ...], by: By) -> tuple[str, ...]:
    known = KINDS if by == "kind" else tuple(name for name, _, _ in TURNS)
    shown = {point.group for point in points}
    return tuple(group for group in known if group in shown)


def _caption(points: tuple[Point, ...], measure: Measure, by: By) -> Caption:
    title = _TITLES[measure, by]
    if not points:
        return Caption(title=title, empty=_EMPTY[measure])
    few = " Faint: too few steps to tell." if any(point.too_few for point in points) else ""
    what = "Weighted by tokens" if measure == "rate" else "The same requests in both"
    words = "; ".join(_told(point, measure) for point in points)
    return Caption(title=title, note=f"{what}; bars: 95 % intervals.{few}", alt=f"{title} {words}.")


def _told(point: Point, measure: Measure) -> str:
    shown = percent if measure == "rate" else times
    interval = "" if point.low is None else f" [{shown(point.low)}, {shown(point.high)}]"
    return f"{point.method}, {point.group}: {shown(point.value)}{interval}, {counted(point.n, 'step')}"
