"""What does a task cost in each arm, at the load of this run? Bars, with the price that they rest on in the note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import DASH, missing, seconds, usd
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.theme import SURFACE, Mode, arm_color, arm_order

TITLE = "What does a task cost at this load?"


@dataclass(frozen=True, kw_only=True)
class CostBar:
    """One arm. `label`: what is written at the bar."""

    arm: str
    usd_per_task: float
    label: str


@dataclass(frozen=True, kw_only=True)
class CostInfo:
    """One bar per arm, in the lab's order."""

    caption: Caption
    bars: tuple[CostBar, ...]


def cost_info(costs: pd.DataFrame, price: str, condition: str = "", cache: str = "cold") -> CostInfo:
    """From the cost table (columns of labkit.analysis.cost.CostRow): one price, one condition, one cache state."""
    same = (costs["price"] == price) & (costs["condition"] == condition) & (costs["cache"] == cache)
    rows: dict[str, Any] = {str(row["arm"]): row for row in costs[same].to_dict("records")}
    bars = tuple(_bar(rows[arm]) for arm in arm_order(rows) if not missing(rows[arm]["usd_per_task"]))
    return CostInfo(caption=_caption(price, bars, rows), bars=bars)


def cost_figure(info: CostInfo, mode: Mode = "light") -> go.Figure:
    """Horizontal bars of USD per task run."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=70 + 56 * len(info.bars), showlegend=False)
    figure.add_bar(
        orientation="h",
        y=[bar.arm for bar in info.bars],
        x=[bar.usd_per_task for bar in info.bars],
        marker={"color": [arm_color(bar.arm, mode) for bar in info.bars]},
        hovertext=[bar.label for bar in info.bars],
        hoverinfo="y+text",
    )
    for bar in info.bars:
        place = {"showarrow": False, "xanchor": "left", "align": "left", "xshift": 6, "bgcolor": SURFACE[mode]}
        figure.add_annotation(x=bar.usd_per_task, y=bar.arm, text=bar.label, font={"size": 12}, **place)
    widest = max(bar.usd_per_task for bar in info.bars)
    figure.update_xaxes(title="USD per task run", range=[0, widest * 2.1], nticks=4, tickformat="~g")
    figure.update_yaxes(autorange="reversed", showgrid=False, ticksuffix=" ")
    return figure


def _bar(row: Any) -> CostBar:
    solved = "not checked" if missing(row["n_solved"]) else f"{row['n_solved']} of {row['n_tasks']}"
    per_solved = usd(row["usd_per_solved"])
    words = f"solved: {solved}" + ("" if per_solved == DASH else f"<br>{per_solved} each")
    label = f"{usd(row['usd_per_task'])} a task, {seconds(row['seconds'] / row['n_tasks'])}<br>{words}"
    return CostBar(arm=str(row["arm"]), usd_per_task=float(row["usd_per_task"]), label=label)


def _caption(price: str, bars: tuple[CostBar, ...], rows: dict[str, Any]) -> Caption:
    if not bars:
        return Caption(title=TITLE, empty="No step has finished yet, so there is nothing to pay for.")
    first = next(iter(rows.values()))
    return Caption(
        title=TITLE,
        note=f"{usd(first['usd_per_hour'])} an hour for the whole machine ({price}), {first['agents']} at a time. "
        "Failed tasks are paid for, too. Every assumption: labkit cost.",
        alt="; ".join(f"{bar.arm}: {bar.label.replace('<br>', ', ')}" for bar in bars),
    )
