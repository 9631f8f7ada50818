"""What does a round promise, and what did it give? A line per cost of drafting, and the rounds that were measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import missing, plain, times
from labkit.plots.drafters import look
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import counted
from labkit.plots.theme import FAINT, MUTED, Mode

TITLES = ("What does the formula promise?", "Did rounds keep what the formula promises?")
_REACH = 5.2
"""The longest draft may be 16 tokens; what agents' rounds yield lies far below, and would be a corner of the figure."""


@dataclass(frozen=True, kw_only=True)
class PromiseLine:
    """Drafters whose rounds last the same: `passes` each. From one token a round to `longest`; `place`: its colour."""

    methods: tuple[str, ...]
    passes: float
    longest: int
    place: int


@dataclass(frozen=True, kw_only=True)
class RoundDot:
    """Rounds that were measured: tokens each, and how many times as fast as passes without drafts."""

    method: str
    group: str
    length: float
    gain: float
    n: int
    too_few: bool
    place: int


@dataclass(frozen=True, kw_only=True)
class DraftPromiseInfo:
    """The lines, and the dots where something was measured."""

    caption: Caption
    lines: tuple[PromiseLine, ...]
    dots: tuple[RoundDot, ...] = ()


def draft_promise_info(promises: pd.DataFrame, rounds: pd.DataFrame | None = None) -> DraftPromiseInfo:
    """`promises`: columns method, k and passes (null where not known). `rounds`: rows of RoundRow, by kind."""
    places = {str(method): place for place, method in enumerate(promises["method"])}
    lines = tuple(_lines(promises, places))
    dots = () if rounds is None else tuple(_dots(rounds, places))
    return DraftPromiseInfo(caption=_caption(lines, dots, rounds is not None), lines=lines, dots=dots)


def draft_promise_figure(info: DraftPromiseInfo, mode: Mode = "light") -> go.Figure:
    """Lines are promised, dots measured; below 1x a round costs more than it gives."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=320)
    for line in info.lines:
        figure.add_scatter(**_drawn(line, mode))
    for dot in info.dots:
        color, symbol = look(dot.place, mode)
        figure.add_scatter(
            x=[dot.length], y=[dot.gain], mode="markers", name=dot.method, showlegend=False,
            hovertext=_told(dot), hoverinfo="text",
            marker={"color": color, "symbol": symbol, "size": 11, "opacity": FAINT if dot.too_few else 1.0},
        )  # fmt: skip
    figure.add_hline(y=1, line={"color": MUTED[mode], "width": 1.5, "dash": "dot"})
    reach = max([_REACH, *(dot.length + 0.2 for dot in info.dots)])
    figure.update_xaxes(title="tokens that a round yields", range=[0.9, reach], dtick=1)
    figure.update_yaxes(title="time without / with drafts", range=[0, reach], dtick=1, ticksuffix="x")
    return figure


def _lines(promises: pd.DataFrame, places: dict[str, int]) -> Iterator[PromiseLine]:
    for _, some in promises[promises["passes"].notna()].groupby("passes"):
        methods, longest = tuple(map(str, some["method"])), 1 + int(some["k"].max())
        yield PromiseLine(
            methods=methods, passes=float(some["passes"].iloc[0]), longest=longest, place=places[methods[0]]
        )


def _dots(rounds: pd.DataFrame, places: dict[str, int]) -> Iterator[RoundDot]:
    for row in rounds[rounds["by"] == "kind"].to_dict("records"):
        length, passes = row["length"], row["round_passes"]
        if missing(length) or missing(passes) or passes <= 0:
            continue
        yield RoundDot(
            method=str(row["method"]), group=str(row["group"]), length=float(length), gain=float(length / passes),
            n=int(row["n_pairs"]), too_few=bool(row["too_few"]), place=places.get(str(row["method"]), len(places)),
        )  # fmt: skip


def _drawn(line: PromiseLine, mode: Mode) -> dict[str, Any]:
    x = [1, line.longest]
    words = f"{', '.join(line.methods)}: a round lasts {_passes(line.passes)}"
    return {
        "x": x,
        "y": [length / line.passes for length in x],
        "mode": "lines",
        "name": words,
        "line": {"color": look(line.place, mode)[0], "width": 2},
        "hovertext": words,
        "hoverinfo": "text",
    }


def _passes(passes: float) -> str:
    return "1 pass" if passes == 1 else f"{plain(passes)} passes"


def _told(dot: RoundDot) -> str:
    return f"{dot.method}, {dot.group}: {times(dot.gain)} at {plain(dot.length)} tokens, {counted(dot.n, 'step')}"


def _caption(lines: tuple[PromiseLine, ...], dots: tuple[RoundDot, ...], asked: bool) -> Caption:
    title = TITLES[asked]
    if asked and not dots:
        return Caption(title=title, empty="No step was measured with drafts and without: labkit run speculation does.")
    if not lines and not dots:
        return Caption(title=title, empty="What drafting costs is known of none of these drafters: measure it.")
    promised = "; ".join(f"{', '.join(line.methods)} {_passes(line.passes)}" for line in lines)
    if not asked:
        note = "A line: tokens a round over the passes that it lasts; below 1x drafts cost time. Not measured."
        return Caption(title=title, note=note, alt=f"{title} A round lasts: {promised}.")
    note = f"Lines: promised. Marks: measured, one a kind of step; n = {counted(sum(dot.n for dot in dots), 'pair')}."
    few = " Faint: too few steps to tell." if any(dot.too_few for dot in dots) else ""
    return Caption(title=title, note=note + few, alt=f"{title} {'; '.join(map(_told, dots))}.")
