"""On which kind of step do drafts get accepted? Token-weighted: accepted draft tokens over proposed ones."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.tables import measured
from labkit.core.records import KINDS
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import arms_of, counted
from labkit.plots.theme import Mode, arm_color

TITLE = "On which kind of step are drafts accepted?"


@dataclass(frozen=True, kw_only=True)
class KindRate:
    """One arm and kind. `rate` is accepted over drafted tokens; None when nothing was drafted."""

    arm: str
    kind: str
    rate: float | None
    drafted: int
    n: int


@dataclass(frozen=True, kw_only=True)
class AcceptanceInfo:
    """One rate per arm that drafted and kind of step, in the order of arms and of KINDS."""

    caption: Caption
    rates: tuple[KindRate, ...]


def acceptance_by_kind_info(steps: pd.DataFrame) -> AcceptanceInfo:
    """Rates over the steps whose drafts were reported. Arms without speculation are absent, not zero."""
    kept = measured(steps)
    kept = kept[kept["drafted_tokens"].notna() & kept["accepted_tokens"].notna()]
    present = [kind for kind in KINDS if len(kept) and (kept["kind"] == kind).any()]
    rates = tuple(
        _rate(kept[(kept["arm"] == arm) & (kept["kind"] == kind)], arm, kind)
        for arm in arms_of(kept)
        for kind in present
    )
    return AcceptanceInfo(caption=_caption(rates), rates=rates)


def acceptance_by_kind_figure(info: AcceptanceInfo, mode: Mode = "light") -> go.Figure:
    """Grouped bars, one colour per arm; the rate is written on the bar while there is room."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=280, barmode="group")
    arms = list(dict.fromkeys(rate.arm for rate in info.rates))
    for arm in arms:
        mine = [rate for rate in info.rates if rate.arm == arm]
        figure.add_bar(
            name=arm,
            x=[rate.kind for rate in mine],
            y=[rate.rate for rate in mine],
            text=["" if rate.rate is None else f"{rate.rate:.0%}" for rate in mine],
            textposition="outside" if len(arms) <= 2 else "none",
            hovertext=[f"{arm}: {rate.drafted} tokens drafted in {counted(rate.n, 'step')}" for rate in mine],
            hoverinfo="text",
            marker_color=arm_color(arm, mode),
        )
    figure.update_yaxes(title="accepted / drafted tokens", range=[0, 1.1], tickformat=".0%", dtick=0.25)
    figure.update_xaxes(title="kind of step")
    return figure


def _rate(steps: pd.DataFrame, arm: str, kind: str) -> KindRate:
    drafted, accepted = int(steps["drafted_tokens"].sum()), int(steps["accepted_tokens"].sum())
    return KindRate(arm=arm, kind=kind, rate=accepted / drafted if drafted else None, drafted=drafted, n=len(steps))


def _caption(rates: tuple[KindRate, ...]) -> Caption:
    if not any(rate.drafted for rate in rates):
        return Caption(title=TITLE, empty="No drafts were measured: choose an arm with speculation to see this.")
    words = [f"{rate.arm} {rate.kind} {rate.rate:.0%} of {rate.drafted}" for rate in rates if rate.rate is not None]
    drafted, n = sum(rate.drafted for rate in rates), sum(rate.n for rate in rates)
    note = f"Weighted by tokens: {drafted:,} drafted in {counted(n, 'step')}."
    return Caption(title=TITLE, note=note, alt=f"{TITLE} {'; '.join(words)}.")
