"""How long did a request wait, and how often? For each time, the share that took no longer; a curve an arm.

A distribution shows what one gain hides: two groups, a long tail, an arm that helps most requests and hurts a few.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.distribution import Timed, distributions
from labkit.analysis.format import seconds
from labkit.plots.ecdf_words import AXES, OF, EcdfCurve, begin, caption
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.log_axis import time_ticks
from labkit.plots.theme import MUTED, Mode, arm_color, arm_dash, arm_marker, arm_order

SPREAD = 6.0
"""Where the largest time is this many times the 1st percentile, the axis is logarithmic."""
FLOOR_S = 1e-4
"""On a logarithmic axis, which has no 0, chunks that came together are drawn this far apart."""
_RUN_DASH = {"A": "solid", "B": "dash"}


@dataclass(frozen=True, kw_only=True)
class EcdfInfo:
    """The curves, in the lab's order of arms. `log`: the times spread over so much that the axis is logarithmic."""

    caption: Caption
    timed: Timed
    curves: tuple[EcdfCurve, ...]
    log: bool


def ecdf_info(rows: pd.DataFrame, timed: Timed = "ttft") -> EcdfInfo:
    """`rows`: steps, or chunks for `itl`. Warm-up does not count; a failed request counts, and has no time."""
    known = rows[rows["arm"].isin(arm_order(rows["arm"]))]
    return _info([EcdfCurve(of=one) for one in distributions(known, timed)], timed)


def beside(a: EcdfInfo, b: EcdfInfo, arm: str) -> EcdfInfo:
    """One arm of two runs, as two curves `A` and `B`."""
    both = [(name, curve.of) for name, info in (("A", a), ("B", b)) for curve in info.curves if curve.of.arm == arm]
    return _info([EcdfCurve(of=of, run=name) for name, of in both], a.timed)


def ecdf_figure(info: EcdfInfo, mode: Mode = "light") -> go.Figure:
    """A step line an arm, its marker where half of all is reached."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=300, hovermode="closest")
    figure.add_hline(y=0.5, line={"dash": "dot", "width": 1, "color": MUTED[mode]})
    for curve in info.curves:
        _line(figure, curve, info, mode)
        _median(figure, curve, info, mode)
    figure.update_yaxes(title=f"share of {OF[info.timed]}s", range=[0, 1.03], tickformat=".0%", dtick=0.25)
    figure.update_xaxes(title=AXES[info.timed], **_axis(info))
    return figure


def _info(curves: Sequence[EcdfCurve], timed: Timed) -> EcdfInfo:
    values = np.array([second for curve in curves for second in curve.of.seconds if second > 0])
    log = bool(values.size and values.max() / np.percentile(values, 1) >= SPREAD)
    return EcdfInfo(caption=caption(curves, timed, log), timed=timed, curves=tuple(curves), log=log)


def _axis(info: EcdfInfo) -> dict[str, object]:
    if not info.log:
        return {"rangemode": "tozero"}
    low = max(FLOOR_S, begin(info.curves))
    high = max(curve.of.seconds[-1] for curve in info.curves)
    ticks, room = time_ticks(low, high), 0.03 * math.log10(high / low)
    return {
        "type": "log",
        "range": [math.log10(low) - room, math.log10(high) + room],
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
        "tickangle": 0,
    }


def _shown(info: EcdfInfo, values: Iterable[float]) -> list[float]:
    return [max(value, FLOOR_S) if info.log else value for value in values]


def _line(figure: go.Figure, curve: EcdfCurve, info: EcdfInfo, mode: Mode) -> None:
    dash = _RUN_DASH.get(curve.run, arm_dash(curve.of.arm))
    figure.add_scatter(
        x=_shown(info, curve.of.seconds),
        y=curve.of.shares,
        name=curve.name,
        legendgroup=curve.name,
        mode="lines",
        line={"color": arm_color(curve.of.arm, mode), "width": 2, "dash": dash, "shape": "hv"},
        hovertemplate=f"{curve.name}: %{{y:.0%}} within %{{x:.3g}} s<extra></extra>",
    )


def _median(figure: go.Figure, curve: EcdfCurve, info: EcdfInfo, mode: Mode) -> None:
    """The arm's marker at half of all; smaller in run B, whose line is dashed."""
    if curve.of.median is None:
        return
    color = arm_color(curve.of.arm, mode)
    size = 7 if curve.run == "B" else 10
    figure.add_scatter(
        x=_shown(info, [curve.of.median]),
        y=[0.5],
        mode="markers",
        legendgroup=curve.name,
        showlegend=False,
        marker={"symbol": arm_marker(curve.of.arm), "size": size, "color": color},
        hovertemplate=f"{curve.name}: half within {seconds(curve.of.median)}<extra></extra>",
    )
