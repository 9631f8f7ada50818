"""When does speculation cost more than it gives? Each step's gain in decode time against its acceptance, with the line
at which it breaks even.

With very many steps the dots are medians of groups of like acceptance, so that a page of a huge run stays light.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from labkit.plots.drafters import look
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import counted
from labkit.plots.theme import MUTED, Mode

TITLE = "When does speculation cost more than it gives?"
MOST = 600
"""More steps of a drafter than this are drawn as medians of GROUPS groups."""
GROUPS = 60
_TICKS = (0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 10)


@dataclass(frozen=True, kw_only=True)
class GainDots:
    """One drafter's steps: acceptance (0 to 1), gain in decode time (over 1: faster), and what each dot is.

    `n`: steps; `n_lost`: of these, slower with drafts. `grouped`: dots are medians.
    """

    method: str
    rates: tuple[float, ...]
    gains: tuple[float, ...]
    told: tuple[str, ...]
    n: int
    n_lost: int
    grouped: bool = False


@dataclass(frozen=True, kw_only=True)
class DraftGainInfo:
    """The dots of each drafter."""

    caption: Caption
    drafters: tuple[GainDots, ...]
    arm: str = ""


def draft_gain_info(pairs: pd.DataFrame, arm: str = "") -> DraftGainInfo:
    """`pairs`: columns method, rate, gain, kind, turn, task and repeat; one row per step measured with and without.

    `arm`: see `drafters_info`.
    """
    drafters = tuple(_dots(str(method), mine) for method, mine in pairs.groupby("method", sort=False))
    return DraftGainInfo(caption=_caption(drafters), drafters=drafters, arm=arm if len(drafters) == 1 else "")


def draft_gain_figure(info: DraftGainInfo, mode: Mode = "light") -> go.Figure:
    """Dots of the arm above the line gained; an x below it lost, since hollow marks are claims."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=320)
    for place, dots in enumerate(info.drafters):
        color, symbol = look(place, mode, info.arm)
        figure.add_scatter(
            x=dots.rates,
            y=dots.gains,
            mode="markers",
            name=dots.method,
            showlegend=len(info.drafters) > 1,
            hovertext=dots.told,
            hoverinfo="text",
            marker={
                "color": color,
                "size": 9,
                "symbol": [symbol if gain >= 1 else "x" for gain in dots.gains],
                "line": {"color": color, "width": 1.5},
            },
        )
    figure.add_hline(y=1, line={"color": MUTED[mode], "width": 1.5, "dash": "dot"})
    low, high = _reach(info.drafters)
    figure.update_xaxes(
        title="accepted / drafted tokens of the step", range=[-0.04, 1.04], tickformat=".0%", dtick=0.25
    )
    figure.update_yaxes(
        title="decode time without / with drafts", type="log", range=[low, high], tickvals=_TICKS,
        ticktext=[f"{tick:g}x" for tick in _TICKS],
    )  # fmt: skip
    return figure


def _dots(method: str, mine: pd.DataFrame) -> GainDots:
    n, lost = len(mine), int((mine["gain"] < 1).sum())
    if n > MOST:
        order = mine["rate"].rank(method="first")
        groups = mine.groupby(np.ceil(order / n * GROUPS))[["rate", "gain"]]
        mine, each = groups.median(), groups.size().to_numpy()
        told = [f"median of {counted(int(size), 'step')}" for size in each]
    else:
        told = [f"{row.task}, turn {row.turn} ({row.kind})" for row in mine.itertuples()]
    rates, gains = (tuple(map(float, mine[name])) for name in ("rate", "gain"))
    words = tuple(
        f"{what}: {gain:.2f}x at {rate:.0%} acceptance" for what, gain, rate in zip(told, gains, rates, strict=True)
    )
    return GainDots(method=method, rates=rates, gains=gains, told=words, n=n, n_lost=lost, grouped=n > MOST)


def _reach(drafters: tuple[GainDots, ...]) -> tuple[float, float]:
    """Ends of the axis, as powers of ten: around all dots."""
    gains = [gain for dots in drafters for gain in dots.gains]
    return float(np.log10(min(*gains, 0.7))) - 0.05, float(np.log10(max(*gains, 1.4))) + 0.05


def _caption(drafters: tuple[GainDots, ...]) -> Caption:
    n = sum(dots.n for dots in drafters)
    if not n:
        return Caption(title=TITLE, empty="No step of natural length was measured both with drafts and without.")
    lost = "; ".join(f"{dots.method} in {dots.n_lost} of {counted(dots.n, 'step')}" for dots in drafters)
    cut = f" Dots: medians of {GROUPS} groups of like acceptance." if any(dots.grouped for dots in drafters) else ""
    note = f"Below 1x (an x) drafts cost time: {lost}.{cut}"
    return Caption(title=TITLE, note=note, alt=f"{TITLE} Drafts cost time: {lost}.")
