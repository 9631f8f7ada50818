"""What does it take to move a prompt's KV from prefill to decode? One dot per step, size against time.

With very many steps the dots are medians of groups of like size, so that a page of a huge run stays light.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import plain
from labkit.analysis.tables import numbers
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import counted
from labkit.plots.theme import MUTED, Mode, arm_color, arm_marker

TITLE = "What does it take to move a prompt from prefill to decode?"
MOST = 600
"""More steps than this are drawn as medians of GROUPS groups."""
GROUPS = 60


@dataclass(frozen=True, kw_only=True)
class TransfersInfo:
    """`sizes[i]` (MB, or tokens where `unit` says so) took `ms[i]`. `grouped`: dots are medians; `n`: steps.

    `rate`: all megabytes over all seconds; None where bytes are not known.
    """

    caption: Caption
    arm: str
    unit: str = "MB"
    sizes: tuple[float, ...] = ()
    ms: tuple[float, ...] = ()
    n: int = 0
    grouped: bool = False
    rate: float | None = None


def transfers_info(moves: pd.DataFrame, arm: str) -> TransfersInfo:
    """`moves`: columns tokens, bytes and seconds, one row per step that moved something; bytes NaN: not known."""
    if not len(moves):
        return TransfersInfo(caption=_nothing(arm), arm=arm)
    known = moves["bytes"].notna().all()
    unit, sizes = ("MB", numbers(moves, "bytes") / 1e6) if known else ("tokens", numbers(moves, "tokens"))
    ms = 1000 * numbers(moves, "seconds")
    rate = float(sizes.sum() / (ms.sum() / 1000)) if known else None
    grouped = len(moves) > MOST
    dots = pd.DataFrame({"size": sizes, "ms": ms})
    if grouped:
        order = dots["size"].rank(method="first")
        dots = dots.groupby(np.ceil(order / len(dots) * GROUPS)).median()
    return TransfersInfo(
        caption=_caption(arm, unit, pd.DataFrame({"size": sizes, "ms": ms}), rate, grouped),
        arm=arm,
        unit=unit,
        sizes=tuple(map(float, dots["size"])),
        ms=tuple(map(float, dots["ms"])),
        n=len(moves),
        grouped=grouped,
        rate=rate,
    )


def transfers_figure(info: TransfersInfo, mode: Mode = "light") -> go.Figure:
    """Dots in the arm's colour, and the line of the mean rate through the origin."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=280)
    if info.rate:
        largest = max(info.sizes)
        figure.add_scatter(
            x=[0, largest], y=[0, 1000 * largest / info.rate], mode="lines", hoverinfo="skip",
            name=f"{plain(info.rate)} MB/s", line={"color": MUTED[mode], "dash": "dot", "width": 1.5},
        )  # fmt: skip
    figure.add_scatter(
        x=info.sizes,
        y=info.ms,
        mode="markers",
        name=f"median of {info.n // GROUPS} steps" if info.grouped else "a step",
        marker={"color": arm_color(info.arm, mode), "symbol": arm_marker(info.arm), "size": 8, "opacity": 0.75},
        hovertemplate="%{x:,.3g} " + info.unit + " in %{y:.3g} ms<extra></extra>",
    )
    what = "KV moved (MB)" if info.unit == "MB" else "prompt tokens moved"
    figure.update_xaxes(title=what, rangemode="tozero")
    figure.update_yaxes(title="time of the transfer (ms)", rangemode="tozero")
    return figure


def _nothing(arm: str) -> Caption:
    why = "Known where one request was in flight at a time and the connector has counters (NIXL has, MoRI-IO has none)."
    return Caption(title=TITLE, empty=f"No step of {arm} told what it moved and how long that took. {why}")


def _caption(arm: str, unit: str, dots: pd.DataFrame, rate: float | None, grouped: bool) -> Caption:
    size, ms = dots["size"].median(), dots["ms"].median()
    middle = f"median {plain(size)} {unit} in {plain(ms)} ms"
    mean = "" if rate is None else f", {plain(rate)} MB/s over all"
    cut = f" Dots: medians of {GROUPS} groups of like size." if grouped else ""
    steps = counted(len(dots), "step")
    how = " Tokens times the KV of one token." if unit == "MB" else ""
    note = f"{middle}{mean}; n = {steps} of {arm}.{how}{cut}"
    return Caption(title=TITLE, note=note[:1].upper() + note[1:], alt=f"{TITLE} {arm}: {middle}{mean}; {steps}.")
