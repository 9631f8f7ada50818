"""How near did each arm's cache come to what was possible? A bar for the hit rate, a mark where its ceiling is."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.cache import CacheUse, cache_use
from labkit.analysis.format import percent
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import arms_of, counted, finished
from labkit.plots.theme import SURFACE, TEXT, Mode, arm_color

TITLE = "How near did each arm's cache come to its ceiling?"


@dataclass(frozen=True, kw_only=True)
class HitRate:
    """One arm. `rate`, `ceiling`: 0 to 1, weighted by tokens; None: not measured."""

    arm: str
    rate: float | None
    ceiling: float | None
    n: int

    @property
    def label(self) -> str:
        """`80 % of 81 %`."""
        return f"{percent(self.rate)} of {percent(self.ceiling)}"


@dataclass(frozen=True, kw_only=True)
class HitRatesInfo:
    """One row per arm, in the lab's order."""

    caption: Caption
    rows: tuple[HitRate, ...]


def hit_rates_info(steps: pd.DataFrame) -> HitRatesInfo:
    """Hit rate and ceiling of each arm over its finished steps."""
    kept = finished(steps)
    rows = tuple(_row(arm, cache_use(kept[kept["arm"] == arm])) for arm in arms_of(kept))
    return HitRatesInfo(caption=_caption(rows), rows=rows)


def hit_rates_figure(info: HitRatesInfo, mode: Mode = "light") -> go.Figure:
    """Horizontal bars; the ceiling is a mark across the bar, and both are written at the end."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    arms = [row.arm for row in info.rows]
    figure = framed(info.caption, mode, height=80 + 34 * len(arms))
    figure.add_bar(
        orientation="h",
        x=[row.rate for row in info.rows],
        y=arms,
        marker_color=[arm_color(arm, mode) for arm in arms],
        name="hit rate",
        showlegend=False,
        hovertemplate="%{y}: %{x:.1%}<extra>hit rate</extra>",
    )
    figure.add_scatter(
        x=[row.ceiling for row in info.rows],
        y=arms,
        mode="markers",
        name="ceiling",
        marker={"symbol": "line-ns-open", "size": 20, "color": TEXT[mode], "line": {"width": 3}},
        hovertemplate="%{y}: %{x:.1%}<extra>ceiling</extra>",
    )
    for row in info.rows:
        figure.add_annotation(
            x=max(row.rate or 0, row.ceiling or 0), y=row.arm, text=row.label, showarrow=False, xanchor="left",
            xshift=8, font={"size": 12}, bgcolor=SURFACE[mode],
        )  # fmt: skip
    figure.update_xaxes(
        title="share of prompt tokens", range=[0, 1.3], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1]
    )
    figure.update_yaxes(autorange="reversed", showgrid=False, ticksuffix=" ")
    return figure


def _row(arm: str, use: CacheUse) -> HitRate:
    return HitRate(arm=arm, rate=use.hit_rate, ceiling=use.hit_ceiling, n=use.n)


def _caption(rows: tuple[HitRate, ...]) -> Caption:
    if not any(row.rate is not None for row in rows):
        return Caption(title=TITLE, empty="No arm has told how many prompt tokens came from its cache.")
    counts = {row.n for row in rows}
    n = f"n = {counted(min(counts), 'step')}" + (" per arm" if len(counts) == 1 else f" to {max(counts)} per arm")
    words = "; ".join(f"{row.arm}: {row.label}" for row in rows)
    note = f"Weighted by tokens; {n}. Mark: the most that an infinite cache of whole blocks could serve."
    return Caption(title=TITLE, note=note, alt=f"{TITLE} Hit rate of ceiling. {words}.")
