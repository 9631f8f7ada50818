"""How many agents does a prefix cache hold? What is kept of the ceiling by the number of agents, one line per arm.

The ceiling is what an infinite cache would serve of the same requests. It differs a little from window to window, so
the hit rate is shown as a share of it: 1 is a cache that has forgotten nothing. What was predicted is dashed; it was
worked out before anything was measured. The dashed upright stands where the agents' blocks and those of the cache are
as many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import missing, percent
from labkit.analysis.turn_taking import TurnTakingRow
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import arms_of
from labkit.plots.theme import MUTED, Mode, arm_color, arm_marker

TITLE = "How many agents does the cache hold?"


@dataclass(frozen=True, kw_only=True)
class CacheLine:
    """One arm. `kept`: hit rate over ceiling; `rates`, `ceilings`: the two of it, of prompt tokens, for each number of
    agents. All 0 to 1, weighted by tokens; None: not measured, or nothing could hit.
    """

    arm: str
    agents: tuple[int, ...]
    kept: tuple[float | None, ...]
    rates: tuple[float | None, ...]
    ceilings: tuple[float | None, ...]
    requests: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class AgentsCacheInfo:
    """`predicted`: agents and what was worked out to be kept; `fits`: agents whose blocks fill the cache."""

    caption: Caption
    lines: tuple[CacheLine, ...]
    predicted: tuple[tuple[int, float], ...] = ()
    fits: float | None = None


def agents_cache_info(
    rows: pd.DataFrame, predicted: Sequence[TurnTakingRow] = (), fits: float | None = None
) -> AgentsCacheInfo:
    """`rows`: as `labkit.analysis.interference.interference` returns them."""
    lines = tuple(_line(arm, rows[rows["arm"] == arm].sort_values("agents")) for arm in arms_of(rows))
    ordered = sorted(predicted, key=lambda row: row.agents)
    known = tuple((row.agents, row.kept) for row in ordered if row.kept is not None)
    return AgentsCacheInfo(caption=_caption(lines, known, fits), lines=lines, predicted=known, fits=fits)


def agents_cache_figure(info: AgentsCacheInfo, mode: Mode = "light") -> go.Figure:
    """Solid: measured; dashed, with crosses: predicted."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=320)
    if info.predicted:
        _add_predicted(figure, info.predicted, mode)
    for line in info.lines:
        _add(figure, line, mode)
    if info.fits is not None:
        figure.add_vline(x=info.fits, line={"color": MUTED[mode], "dash": "dash", "width": 1.5})
    levels = sorted({at for line in info.lines for at in line.agents} | {at for at, _ in info.predicted})
    figure.update_xaxes(title="agents at once", tickvals=levels, range=[levels[0] - 0.4, levels[-1] + 0.4])
    figure.update_yaxes(title="kept of the ceiling", range=[0, 1.05], tickformat=".0%")
    return figure


def _line(arm: str, rows: pd.DataFrame) -> CacheLine:
    def column(name: str) -> tuple[float | None, ...]:
        return tuple(None if missing(value) else float(value) for value in rows[name])

    rates, ceilings = column("hit_rate"), column("hit_ceiling")
    return CacheLine(
        arm=arm,
        agents=tuple(map(int, rows["agents"])),
        kept=tuple(rate / of if rate is not None and of else None for rate, of in zip(rates, ceilings, strict=True)),
        rates=rates,
        ceilings=ceilings,
        requests=tuple(int(sent - failed) for sent, failed in zip(rows["n_sent"], rows["n_failed"], strict=True)),
    )


def _add(figure: go.Figure, line: CacheLine, mode: Mode) -> None:
    color = arm_color(line.arm, mode)
    figure.add_scatter(
        x=line.agents,
        y=line.kept,
        name=f"{line.arm}: measured",
        mode="lines+markers",
        line={"color": color, "width": 2.5},
        marker={"symbol": arm_marker(line.arm), "size": 9, "color": color},
        customdata=list(zip(line.rates, line.ceilings, line.requests, strict=True)),
        hovertemplate="%{y:.1%}: %{customdata[0]:.1%} of %{customdata[1]:.1%}, %{customdata[2]} requests",
        cliponaxis=False,
    )


def _add_predicted(figure: go.Figure, predicted: tuple[tuple[int, float], ...], mode: Mode) -> None:
    agents, rates = zip(*predicted, strict=True)
    figure.add_scatter(
        x=agents,
        y=rates,
        name="predicted",
        mode="lines+markers",
        line={"color": MUTED[mode], "width": 2, "dash": "dash"},
        marker={"symbol": "x-thin", "size": 8, "line": {"color": MUTED[mode], "width": 2}},
        hovertemplate="%{y:.1%}",
        cliponaxis=False,
    )


def _caption(lines: tuple[CacheLine, ...], predicted: tuple[tuple[int, float], ...], fits: float | None) -> Caption:
    if not any(share is not None for line in lines for share in line.kept):
        return Caption(title=TITLE, empty="No window under load has told its hit rate: labkit run interference")
    counts = [n for line in lines for n in line.requests]
    spread = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    upright = "" if fits is None else f" Upright: the cache is full at {fits:.1f} agents."
    hollow = " Dashed: worked out before." if predicted else ""
    alt = "; ".join(f"{line.arm}: {_words(line)}" for line in lines)
    return Caption(
        title=TITLE,
        note=f"n = {spread} requests a point, weighted by tokens.{hollow}{upright}",
        alt=f"Kept of the ceiling. {alt}",
    )


def _words(line: CacheLine) -> str:
    return ", ".join(f"{percent(share)} with {at}" for at, share in zip(line.agents, line.kept, strict=True))
