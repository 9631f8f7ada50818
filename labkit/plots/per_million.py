"""What do a million tokens cost? Measured arms filled; what others published, at the same price, hollow.

A published rate is of other hardware, another model and another load, so it stands in a row of its own and is joined to
nothing. Only generated tokens have one: the other two need a count that nobody published.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import missing, usd
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.theme import MUTED, SURFACE, Mode, arm_color, arm_marker, arm_order

Tokens = Literal["computed", "prompt", "generated"]
MEASURES: tuple[Tokens, ...] = ("computed", "prompt", "generated")
_WORDS: dict[Tokens, str] = {
    "computed": "prompt tokens that were computed",
    "prompt": "prompt tokens, cached ones too",
    "generated": "generated tokens",
}
_TITLES: dict[Tokens, str] = {
    "computed": "What do a million computed tokens cost?",
    "prompt": "What do a million prompt tokens cost?",
    "generated": "What do a million generated tokens cost?",
}
_ROW_PX = 40


@dataclass(frozen=True, kw_only=True)
class CostMark:
    """One row. `arm`: of a measurement; empty for a claim, whose `text` says who published it."""

    row: str
    arm: str
    value: float
    text: str
    claimed: bool


@dataclass(frozen=True, kw_only=True)
class PerMillionInfo:
    """Measured arms in the lab's order, then claims, cheapest first."""

    caption: Caption
    tokens: Tokens
    marks: tuple[CostMark, ...]


def per_million_info(costs: pd.DataFrame, claims: pd.DataFrame, tokens: Tokens, price: str) -> PerMillionInfo:
    """`costs`: of one load (columns of labkit.analysis.cost.CostRow); `claims`: of labkit.analysis.recost.RecostRow."""
    name = f"usd_per_m_{tokens}"
    rows: dict[str, Any] = {str(row["arm"]): row for row in costs.to_dict("records") if not missing(row[name])}
    marks = tuple(_measured(rows[arm], name, tokens) for arm in arm_order(rows))
    claimed = tuple(map(_claim, _known(claims))) if tokens == "generated" else ()
    return PerMillionInfo(caption=_caption(marks, claimed, tokens, price), tokens=tokens, marks=marks + claimed)


def per_million_figure(info: PerMillionInfo, mode: Mode = "light") -> go.Figure:
    """Marks on a log scale, the cost written beside each."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=80 + _ROW_PX * len(info.marks), showlegend=False)
    for mark in info.marks:
        color = MUTED[mode] if mark.claimed else arm_color(mark.arm, mode)
        symbol = "circle-open" if mark.claimed else arm_marker(mark.arm)
        edge = {"width": 2 if mark.claimed else 1, "color": color if mark.claimed else SURFACE[mode]}
        figure.add_scatter(
            x=[mark.value], y=[mark.row], mode="markers+text", text=[f"  {usd(mark.value)}"],
            textposition="middle right", marker={"symbol": symbol, "size": 11, "color": color, "line": edge},
            hovertext=mark.text, hoverinfo="text", cliponaxis=False,
        )  # fmt: skip
    values = [mark.value for mark in info.marks]
    low, high = math.log10(min(values)) - 0.15, math.log10(max(values))
    title = f"USD per million {_WORDS[info.tokens]}"
    figure.update_xaxes(type="log", title=title, range=[low, high + max(0.5, 0.45 * (high - low))])
    figure.update_xaxes(dtick=1 if high - low > 1 else "D2", tickformat="~g", tickprefix="$")
    figure.update_yaxes(autorange="reversed", showgrid=False, ticksuffix=" ")
    return figure


def _measured(row: Any, name: str, tokens: Tokens) -> CostMark:
    value, count = float(row[name]), int(row[f"{tokens}_tokens"])
    text = f"{row['arm']}: {usd(value)} (n {count:,} tokens, {usd(row['usd'])} in all)"
    return CostMark(row=str(row["arm"]), arm=str(row["arm"]), value=value, text=text, claimed=False)


def _known(claims: pd.DataFrame) -> list[Any]:
    kept = claims[claims["usd_per_m_generated"].notna()]
    return list(kept.sort_values("usd_per_m_generated").to_dict("records"))


def _claim(row: Any) -> CostMark:
    value = float(row["usd_per_m_generated"])
    text = f"Published: {row['id']}, {row['what']}: {usd(value)} at this price"
    return CostMark(row=f"claim: {row['id']}", arm="", value=value, text=text, claimed=True)


def _caption(marks: tuple[CostMark, ...], claims: tuple[CostMark, ...], tokens: Tokens, price: str) -> Caption:
    title = _TITLES[tokens]
    if not marks:
        return Caption(title=title, empty="No arm had such tokens, or said how many: there is no such cost.")
    hollow = " Hollow: published rates at this price, on other models and loads." if claims else ""
    return Caption(
        title=title,
        note=f"The whole cost over these tokens, at the load that was measured ({price}).{hollow}",
        alt="; ".join(mark.text for mark in (*marks, *claims)),
    )
