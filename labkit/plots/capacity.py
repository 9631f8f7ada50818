"""How many agents are served well enough? Good requests / sent against agents, and where that meets what is asked."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.capacity import CapacityRow
from labkit.analysis.format import missing
from labkit.analysis.slo import Slo
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.theme import MUTED, Mode, arm_color, arm_marker, arm_order

TITLE = "How many agents are served well enough?"


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One arm: attainment and its interval at each level that was tried, requests sent there, and the estimate."""

    arm: str
    agents: tuple[int, ...]
    attainment: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    sent: tuple[int, ...]
    capacity: int
    capacity_low: int
    capacity_high: int | None
    words: str


@dataclass(frozen=True, kw_only=True)
class CapacityInfo:
    """The curves, in the lab's order of arms, and the share that is asked for."""

    caption: Caption
    share: float
    curves: tuple[Curve, ...]


def capacity_info(levels: pd.DataFrame, found: pd.DataFrame, slo: Slo) -> CapacityInfo:
    """`levels`: of `labkit.analysis.goodput.goodput`; `found`: of `labkit.analysis.capacity.capacity`."""
    rows = {str(row["arm"]): _record(row) for row in found.to_dict("records")}
    curves = tuple(_curve(levels[levels["arm"] == arm], rows[arm]) for arm in arm_order(found["arm"]))
    return CapacityInfo(caption=_caption(curves, slo), share=slo.share, curves=curves)


def capacity_figure(info: CapacityInfo, mode: Mode = "light") -> go.Figure:
    """Points with 95 % intervals; the dashed line is the share that is asked for, a bar at the bottom each capacity."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=320)
    last = max(at for curve in info.curves for at in curve.agents)
    for place, curve in enumerate(info.curves):
        offset = 0.06 * (place - (len(info.curves) - 1) / 2)
        _draw(figure, curve, offset, mode)
        _draw_estimate(figure, curve, -0.06 * (place + 1), last, mode)
    line = {"color": MUTED[mode], "width": 1.5, "dash": "dash"}
    figure.add_hline(y=info.share, line=line, annotation_text=f"asked for: {info.share:.0%}")
    figure.update_yaxes(title="good requests / sent", tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    figure.update_yaxes(range=[-0.06 * (len(info.curves) + 0.8), 1.06])
    figure.update_xaxes(title="agents at once", range=[-0.4, last + 0.6], dtick=max(1, last // 8))
    return figure


def _draw(figure: go.Figure, curve: Curve, offset: float, mode: Mode) -> None:
    color = arm_color(curve.arm, mode)
    pairs = list(zip(curve.attainment, curve.low, curve.high, strict=True))
    figure.add_scatter(
        x=[at + offset for at in curve.agents],
        y=curve.attainment,
        name=curve.arm,
        mode="lines+markers",
        line={"color": color, "width": 2},
        marker={"symbol": arm_marker(curve.arm), "size": 10, "color": color},
        error_y={
            "array": [max(0.0, high - share) for share, _, high in pairs],
            "arrayminus": [max(0.0, share - low) for share, low, _ in pairs],
            "thickness": 1.5,
            "width": 4,
            "color": color,
        },
        hovertext=[f"{share:.0%} of {n} requests" for share, n in zip(curve.attainment, curve.sent, strict=True)],
        hoverinfo="text",
    )


def _draw_estimate(figure: go.Figure, curve: Curve, y: float, last: int, mode: Mode) -> None:
    """The estimate and its interval; it runs out of the figure where no upper end was found."""
    color = arm_color(curve.arm, mode)
    right = curve.capacity_high if curve.capacity_high is not None else last + 0.6
    figure.add_scatter(
        x=[curve.capacity_low, right],
        y=[y, y],
        mode="lines",
        line={"color": color, "width": 5},
        opacity=0.5,
        showlegend=False,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=[curve.capacity],
        y=[y],
        mode="markers",
        marker={"symbol": arm_marker(curve.arm), "size": 11, "color": color},
        showlegend=False,
        hovertext=curve.words,
        hoverinfo="text",
    )


def _record(row: dict[object, object]) -> CapacityRow:
    return CapacityRow.from_dict({str(k): None if missing(v) else v for k, v in row.items()})


def _curve(levels: pd.DataFrame, found: CapacityRow) -> Curve:
    levels = levels.sort_values("agents")
    floats = {name: tuple(float(v) for v in levels[name]) for name in ("attainment", "low", "high")}
    return Curve(
        arm=found.arm,
        agents=tuple(int(v) for v in levels["agents"]),
        sent=tuple(int(v) for v in levels["n_sent"]),
        capacity=found.agents,
        capacity_low=found.low,
        capacity_high=found.high,
        words=f"{found.arm}: {found}",
        **floats,
    )


def _caption(curves: tuple[Curve, ...], slo: Slo) -> Caption:
    if not curves:
        return Caption(title=TITLE, empty="No level was measured yet: labkit run capacity")
    note = f"Good: {slo}. Bars at the bottom: capacity with its 95 % interval."
    return Caption(title=TITLE, note=note, alt="; ".join(curve.words for curve in curves))
