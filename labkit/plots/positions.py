"""How far into a draft does acceptance reach? Of all drafts, the share whose token at each position was accepted."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import percent
from labkit.plots.drafters import look
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.theme import Mode

TITLE = "How far into a draft does acceptance reach?"
NONE = "The engine counted no positions: vLLM does, under speculation, and an engine that was attached may not."


@dataclass(frozen=True, kw_only=True)
class PositionLine:
    """One drafter: accepted over drafts at positions 1, 2 and on; `drafts`: verification rounds."""

    method: str
    rates: tuple[float, ...]
    drafts: int


@dataclass(frozen=True, kw_only=True)
class PositionsInfo:
    """One line per drafter, in the order of the table."""

    caption: Caption
    lines: tuple[PositionLine, ...]
    arm: str = ""


def positions_info(table: pd.DataFrame, arm: str = "") -> PositionsInfo:
    """`table`: as labkit.analysis.draft_positions.position_table returns it. `arm`: see `drafters_info`."""
    lines = tuple(
        PositionLine(method=str(method), rates=tuple(map(float, mine["rate"])), drafts=int(mine["drafts"].iloc[0]))
        for method, mine in table.sort_values("position", kind="stable").groupby("method", sort=False)
    )
    return PositionsInfo(caption=_caption(lines), lines=lines, arm=arm if len(lines) == 1 else "")


def positions_figure(info: PositionsInfo, mode: Mode = "light") -> go.Figure:
    """Grouped bars, a group per position; the share is written on the bar while there is room."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=280, barmode="group")
    bars = sum(len(line.rates) for line in info.lines)
    for place, line in enumerate(info.lines):
        figure.add_bar(
            x=list(range(1, len(line.rates) + 1)),
            y=line.rates,
            name=line.method,
            showlegend=len(info.lines) > 1,
            marker_color=look(place, mode, info.arm)[0],
            text=[f"{rate:.0%}" for rate in line.rates] if bars <= 8 else None,
            textposition="outside",
            hovertemplate="position %{x}: %{y:.1%}<extra>" + line.method + "</extra>",
        )
    longest = max(len(line.rates) for line in info.lines)
    figure.update_xaxes(title="position in the draft", tick0=1, dtick=max(1, -(-longest // 8)))
    figure.update_yaxes(title="accepted / drafts", range=[0, 1.1], tickformat=".0%", dtick=0.25)
    return figure


def _caption(lines: tuple[PositionLine, ...]) -> Caption:
    if not lines:
        return Caption(title=TITLE, empty=NONE)
    n = ", ".join(f"{line.drafts:,} {line.method}" for line in lines)
    words = "; ".join(f"{line.method}: {', '.join(percent(rate) for rate in line.rates)}" for line in lines)
    note = f"n = {n} drafts. A token counts only where all before it were accepted."
    return Caption(title=TITLE, note=note, alt=f"{TITLE} From position 1 on, {words}.")
