"""What does each layer gain, and how sure is it? Gains with their 95 % intervals, one panel a metric.

From the tables of labkit.analysis.effects: `effects` (a row per term) or `arm_gains` (a row per arm). The axis is
logarithmic, so that twice as fast and twice as slow are equally far from 1. A faint mark has no verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import DASH, plain
from labkit.core.arms import Arm
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.labels import METRIC_WORDS, term_label
from labkit.plots.log_axis import gain_ticks, in_reach
from labkit.plots.panels import axis_number, panel_titles, panels
from labkit.plots.rows import counted
from labkit.plots.theme import FAINT, MUTED, SURFACE, Mode, arm_color, arm_marker

LAYERS_TITLE = "What does each layer gain, and how sure is it?"
ARMS_TITLE = "What does an arm gain over base, and how sure is it?"
_ROW_PX, _PANEL_PX = 30, 62


@dataclass(frozen=True, kw_only=True)
class ForestMark:
    """One gain. `told`: better, worse or same was said; else it is drawn faint. Nulls are written as a dash.

    `arm`: whose colour and marker it has: of a layer the arm that has it alone, of several the arm that has just them.
    """

    label: str
    arm: str
    gain: float | None
    low: float | None
    high: float | None
    told: bool
    verdict: str

    @property
    def text(self) -> str:
        """The gain and its interval in words, short."""
        if self.gain is None:
            return DASH
        return plain(self.gain) if self.low is None else f"{plain(self.gain)} [{plain(self.low)}, {plain(self.high)}]"


@dataclass(frozen=True, kw_only=True)
class ForestPanel:
    """One metric; marks in the table's order."""

    metric: str
    title: str
    marks: tuple[ForestMark, ...]


@dataclass(frozen=True, kw_only=True)
class ForestInfo:
    """The panels, in the table's order of metrics; metrics without any gain have none."""

    caption: Caption
    panels: tuple[ForestPanel, ...]


def forest_info(table: pd.DataFrame, metrics: Sequence[str] = ()) -> ForestInfo:
    """From `effects` or `arm_gains`. `metrics`: which to show; all that have a gain when empty."""
    asked = list(metrics) or list(dict.fromkeys(map(str, table["metric"])))
    made = tuple(_panel(table[table["metric"] == metric], metric) for metric in asked)
    kept = tuple(panel for panel in made if any(mark.gain is not None for mark in panel.marks))
    return ForestInfo(caption=_caption(table, kept), panels=kept)


def forest_figure(info: ForestInfo, mode: Mode = "light") -> go.Figure:
    """Marks with intervals on a log axis; the dotted line is a gain of 1. Better lies to the right."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    rows = [len(panel.marks) for panel in info.panels]
    figure = framed(info.caption, mode, height=_ROW_PX * sum(rows) + _PANEL_PX * len(rows) + 30, showlegend=False)
    panels(figure, rows, _ROW_PX, _PANEL_PX)
    for number, panel in enumerate(info.panels, start=1):
        _draw(figure, panel, number, mode)
    panel_titles(figure, [panel.title for panel in info.panels], mode)
    ticks, words, ends = gain_ticks(_ends(info))
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=words, range=ends, tickangle=0)
    figure.update_xaxes(matches="x", selector=lambda axis: axis.plotly_name != "xaxis")  # it cannot match itself
    figure.update_layout(
        {f"xaxis{axis_number(len(rows))}": {"title": "gain: times as good (log scale; above 1 is better)"}}
    )
    return figure


def _panel(rows: pd.DataFrame, metric: str) -> ForestPanel:
    return ForestPanel(
        metric=metric, title=METRIC_WORDS.get(metric, metric), marks=tuple(_mark(row) for _, row in rows.iterrows())
    )


def _mark(row: pd.Series) -> ForestMark:
    verdict = str(row["verdict"])
    return ForestMark(
        label=term_label(str(row["term"])) if "term" in row else str(row["arm"]),
        arm=Arm(**dict.fromkeys(str(row["term"]).split(":"), True)).label if "term" in row else str(row["arm"]),
        **{name: None if pd.isna(row[name]) else float(row[name]) for name in ("gain", "low", "high")},
        told=verdict.startswith(("better", "worse", "same")),
        verdict=verdict,
    )


def _draw(figure: go.Figure, panel: ForestPanel, number: int, mode: Mode) -> None:
    at = axis_number(number)
    for mark in panel.marks:
        _mark_at(figure, mark, at, mode)
    figure.add_shape(
        type="line", x0=1, x1=1, xref=f"x{at}", y0=0, y1=1, yref=f"y{at} domain",
        line={"dash": "dot", "width": 1, "color": MUTED[mode]},
    )  # fmt: skip


def _mark_at(figure: go.Figure, mark: ForestMark, at: str, mode: Mode) -> None:
    """The interval, the mark on it, and both in words at the right. A null keeps its row, for its dash."""
    color, seen = arm_color(mark.arm, mode), {"opacity": 1.0 if mark.told else FAINT}
    axes = {"xaxis": f"x{at}", "yaxis": f"y{at}"}
    figure.add_scatter(
        x=[mark.low, mark.high], y=[mark.label] * 2, mode="lines", hoverinfo="skip",
        line={"color": color, "width": 3 if mark.told else 1.5}, **seen, **axes,
    )  # fmt: skip
    figure.add_scatter(
        x=[mark.gain], y=[mark.label], mode="markers", hovertext=[f"{mark.text}<br>{mark.verdict}"], hoverinfo="y+text",
        marker={"symbol": arm_marker(mark.arm), "size": 12, "color": color}, **seen, **axes,
    )  # fmt: skip
    figure.add_annotation(
        x=1, xref="paper", xanchor="right", y=mark.label, yref=f"y{at}", text=mark.text, showarrow=False,
        font={"size": 11, "color": MUTED[mode]}, bgcolor=SURFACE[mode],
    )  # fmt: skip


def _ends(info: ForestInfo) -> list[float]:
    marks = [mark for panel in info.panels for mark in panel.marks]
    gains = [mark.gain for mark in marks if mark.gain is not None]
    return in_reach(gains, [value for mark in marks for value in (mark.low, mark.high) if value is not None])


def _caption(table: pd.DataFrame, kept: Sequence[ForestPanel]) -> Caption:
    by_term = "term" in table
    title = LAYERS_TITLE if by_term else ARMS_TITLE
    if not kept:
        return Caption(title=title, empty="No request was measured in all the arms that an effect compares.")
    rows = table[table["gain"].notna()]
    n = [int(rows[name].max()) for name in ("n_tasks", "n_requests", "n_repeats")]
    of = f"{counted(n[0], 'task')}, {counted(n[1], 'request')}, {counted(n[2], 'repeat')}"
    note = f"n = {of}. Line: 95 % interval. Faint: too few to tell."
    note += " A layer's gain is averaged over the others' settings." if by_term else ""
    said = "; ".join(f"{p.title}: " + ", ".join(f"{m.label} {m.text} ({m.verdict})" for m in p.marks) for p in kept)
    return Caption(title=title, note=note, alt=f"Gains, above 1 is better. {said}")
