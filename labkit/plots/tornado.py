"""What moves a number most? One assumption at a time, from one end to the other, those that move it most on top.

The axis is logarithmic, so that half and double are equally far from 1, where the number is now. Ends that were
measured are dark, assumed ones grey: these say what if, and not what is.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import times
from labkit.plots.frame import Caption, framed, sentence, wrapped
from labkit.plots.log_axis import gain_ticks
from labkit.plots.theme import MUTED, SURFACE, TEXT, Mode, part_color

_LABEL_CHARS = 22
_ROW_PX = 40


@dataclass(frozen=True, kw_only=True)
class Swing:
    """One assumption. `low`, `high`: the number at either end, over what it is now. `ends`: what these are."""

    name: str
    low: float
    high: float
    ends: str
    measured: bool

    @property
    def text(self) -> str:
        """`1.00x to 2.31x: prefix or base`."""
        return f"{times(self.low)} to {times(self.high)}: {self.ends}"


@dataclass(frozen=True, kw_only=True)
class TornadoInfo:
    """The swings, widest first. `of`: the number that they move, such as `cost of a task run`."""

    caption: Caption
    of: str
    swings: tuple[Swing, ...]


def tornado_info(table: pd.DataFrame, of: str, now: str, n: str) -> TornadoInfo:
    """From columns name, ends, low, high (above 0) and measured. `now`: the number as it is; `n`: what it is over."""
    rows = [_swing(row) for row in table.to_dict("records")]
    swings = tuple(sorted(rows, key=lambda one: math.log(one.high / one.low), reverse=True))
    return TornadoInfo(caption=_caption(swings, of, now, n), of=of, swings=swings)


def tornado_figure(info: TornadoInfo, mode: Mode = "light") -> go.Figure:
    """A bar for each assumption, from its low to its high end; the dotted line is the number as it is."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=80 + _ROW_PX * len(info.swings), barmode="overlay")
    for measured, name in ((True, "measured ends"), (False, "assumed ends")):
        swings = [one for one in info.swings if one.measured == measured]
        if swings:
            color = TEXT[mode] if measured else part_color("unknown", mode)
            figure.add_bar(**_bars(swings), name=name, marker_color=color)
    for one in info.swings:
        figure.add_annotation(
            x=math.log10(one.high), y=_label(one), text=times(one.high / one.low), showarrow=False, xanchor="left",
            xshift=6, font={"size": 12}, bgcolor=SURFACE[mode],
        )  # fmt: skip
    ticks, words, ends = gain_ticks([end for one in info.swings for end in (one.low, one.high)])
    figure.add_vline(x=1, line={"dash": "dot", "color": MUTED[mode], "width": 1})
    title = f"{info.of}, now = 1 (log scale)"
    figure.update_xaxes(type="log", tickvals=ticks, ticktext=words, range=[ends[0], ends[1] + _room(ends)], title=title)
    order = [_label(one) for one in info.swings]
    figure.update_yaxes(
        autorange="reversed", showgrid=False, ticksuffix=" ", categoryorder="array", categoryarray=order
    )
    return figure


def _swing(row: dict[Hashable, Any]) -> Swing:
    return Swing(
        name=str(row["name"]), low=float(row["low"]), high=float(row["high"]), ends=str(row["ends"]),
        measured=bool(row["measured"]),
    )  # fmt: skip


def _bars(swings: list[Swing]) -> dict[str, Any]:
    """Bars that begin at `low`: on a log axis, too, plotly wants base and length without their logarithm."""
    return {
        "orientation": "h",
        "y": [_label(one) for one in swings],
        "base": [one.low for one in swings],
        "x": [one.high - one.low for one in swings],
        "hovertext": [one.text for one in swings],
        "hoverinfo": "y+text",
    }


def _label(one: Swing) -> str:
    return "<br>".join(wrapped(one.name, _LABEL_CHARS))


def _room(ends: list[float]) -> float:
    """For the words at the end of the longest bar."""
    return 0.16 * (ends[1] - ends[0])


def _caption(swings: tuple[Swing, ...], of: str, now: str, n: str) -> Caption:
    title = f"What moves the {of} most?"
    if not swings:
        return Caption(title=title, empty="Nothing was varied that moves it.")
    note = f"One assumption at a time; now {now}; n = {n}. At the end: how many times one end is the other."
    return Caption(title=title, note=note, alt=f"{title} " + "; ".join(f"{one.name} {one.text}" for one in swings))
