"""What others published on one metric, where nothing was measured beside it: hollow marks only, a row a claim.

Where something was measured, `labkit.plots.claims` draws both.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.core.arms import LAYERS, Arm
from labkit.plots.frame import Caption, framed, sentence, wrapped
from labkit.plots.rows import counted
from labkit.plots.theme import Mode, arm_color, arm_marker

_LABEL_CHARS = 38
_ROW_PX = 46


@dataclass(frozen=True, kw_only=True)
class ClaimedMark:
    """One claim. `arm`: the one that has its layer alone; `text`: the source, and what to keep in mind."""

    row: str
    value: float
    arm: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ClaimedInfo:
    """The claims as they came. `unit`: of all of them."""

    caption: Caption
    marks: tuple[ClaimedMark, ...]
    unit: str = ""


def claimed_info(claims: pd.DataFrame, title: str) -> ClaimedInfo:
    """`claims`: of one metric and unit, columns as `labkit.store.claims` has them; those without a number are left
    out. `title`: the question, with its mark."""
    kept = claims[claims["value"].notna() & claims["layer"].isin(LAYERS)]
    if not len(kept):
        return ClaimedInfo(caption=Caption(title=title, empty="No claim with a number is known on this."), marks=())
    marks = tuple(
        ClaimedMark(
            row=str(row["statement"]),
            value=float(row["value"]),
            arm=Arm(**{str(row["layer"]): True}).label,
            text=f"{row['source']}, {row['date']}. {row['caution']}",
        )
        for row in kept.to_dict("records")
    )
    return ClaimedInfo(caption=_caption(title, kept, marks), marks=marks, unit=str(kept["unit"].iloc[0]))


def claimed_figure(info: ClaimedInfo, mode: Mode = "light") -> go.Figure:
    """Hollow marks on one axis from zero."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=90 + _ROW_PX * len(info.marks), showlegend=False)
    for mark in info.marks:
        color = arm_color(mark.arm, mode)
        figure.add_scatter(
            x=[mark.value],
            y=[mark.row],
            mode="markers",
            marker={"symbol": f"{arm_marker(mark.arm)}-open", "size": 12, "color": color, "line": {"width": 2}},
            hovertext=mark.text,
            hoverinfo="text+x",
        )
    rows = [mark.row for mark in info.marks]
    figure.update_xaxes(title=f"published, {info.unit}", rangemode="tozero")
    figure.update_yaxes(range=[len(rows) - 0.5, -0.5], showgrid=False, ticksuffix=" ", tickmode="array")
    figure.update_yaxes(tickvals=rows, ticktext=["<br>".join(wrapped(row, _LABEL_CHARS)) for row in rows])
    return figure


def _caption(title: str, claims: pd.DataFrame, marks: tuple[ClaimedMark, ...]) -> Caption:
    who = ", ".join(dict.fromkeys(claims["source"].astype(str) + " " + claims["date"].astype(str)))
    where = ", ".join(dict.fromkeys(each for each in claims["hardware"].astype(str) if each))
    note = f"Hollow: {counted(len(marks), 'claim')} of {who}, on {where}. None was measured by this lab."
    return Caption(title=title, note=note, alt="; ".join(mark.row for mark in marks))
