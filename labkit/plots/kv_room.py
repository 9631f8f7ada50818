"""How much of the KV cache is left beside a drafter? A bar per engine, and a hollow mark where arithmetic puts it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import missing, percent
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.theme import TEXT, Mode, arm_color

TITLE = "How much room for KV is left beside a drafter?"
_EMPTY = "No engine of this run has told how full its KV cache was."
_ARITHMETIC = "by arithmetic"


@dataclass(frozen=True, kw_only=True)
class RoomBar:
    """One engine. `tokens`: that its blocks hold; `expected`: by arithmetic, None where it is not known."""

    drafter: str
    arm: str
    tokens: int
    expected: int | None
    share: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class KvRoomInfo:
    """The engines in the order of the table."""

    caption: Caption
    bars: tuple[RoomBar, ...]


def kv_room_info(rooms: pd.DataFrame) -> KvRoomInfo:
    """`rooms`: one row per engine with drafter, arm, tokens, expected_tokens, share and n; rows without tokens are out.

    `share`: of the tokens that the engine without a drafter has.
    """
    bars = tuple(
        RoomBar(
            drafter=str(row["drafter"]),
            arm=str(row["arm"]),
            tokens=int(row["tokens"]),
            expected=None if missing(row["expected_tokens"]) else int(row["expected_tokens"]),
            share=None if missing(row["share"]) else float(row["share"]),
            n=int(row["n"]),
        )
        for row in rooms.to_dict("records")
        if not missing(row["tokens"])
    )
    return KvRoomInfo(caption=_caption(bars), bars=bars)


def kv_room_figure(info: KvRoomInfo, mode: Mode = "light") -> go.Figure:
    """Bars in the colour of the engine's arm; what was not measured is hollow."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=280)
    figure.add_bar(
        x=[bar.drafter for bar in info.bars],
        y=[bar.tokens for bar in info.bars],
        name="measured",
        marker_color=[arm_color(bar.arm, mode) for bar in info.bars],
        text=[percent(bar.share) for bar in info.bars],
        hovertemplate="%{x}: %{y:,.0f} tokens<extra></extra>",
    )
    known = [bar for bar in info.bars if bar.expected is not None]
    if known:
        figure.add_scatter(
            x=[bar.drafter for bar in known], y=[bar.expected for bar in known], name=_ARITHMETIC, mode="markers",
            marker={"symbol": "circle-open", "size": 14, "color": TEXT[mode], "line": {"width": 2}},
            hovertemplate="%{x}: %{y:,.0f} tokens<extra>by arithmetic</extra>",
        )  # fmt: skip
    figure.update_xaxes(title="drafter")
    figure.update_yaxes(title="tokens of KV cache", rangemode="tozero", tickformat=",d")
    return figure


def _caption(bars: tuple[RoomBar, ...]) -> Caption:
    if not bars:
        return Caption(title=TITLE, empty=_EMPTY)
    told = "; ".join(f"{bar.drafter}: {bar.tokens:,} tokens ({percent(bar.share)})" for bar in bars)
    readings = ", ".join(str(bar.n) for bar in bars)
    note = f"Same memory for each. n = {readings} readings of the gauge; hollow: by arithmetic, not measured."
    return Caption(title=TITLE, note=note, alt=f"{TITLE} {told}.")
