"""The same requests in several variants, turn by turn: one line a variant, told apart by dash and marker.

Colour keeps its meaning: it is the arm's, so that variants of one arm have one colour and base has its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.latency import ttft
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.per_turn import turn_ticks
from labkit.plots.rows import counted, finished
from labkit.plots.theme import Mode, arm_color

Unit = Literal["s", "tokens"]
_AXES: dict[Unit, str] = {"s": "time to first token (s)", "tokens": "prompt tokens to compute"}
_HOVER: dict[Unit, str] = {"s": "%{y:.2f} s", "tokens": "%{y:,.0f}"}
_DASHES = ("solid", "dash", "dot", "longdashdot")
_MARKERS = ("square", "triangle-up", "diamond", "cross")


@dataclass(frozen=True, kw_only=True)
class VariantLine:
    """`values[i]` is that of `turns[i]`; `arm`: whose colour it has; `n`: values behind the line."""

    name: str
    arm: str
    turns: tuple[int, ...]
    values: tuple[float, ...]
    n: int


@dataclass(frozen=True, kw_only=True)
class VariantsInfo:
    """The lines in the order in which they were given."""

    caption: Caption
    unit: Unit
    lines: tuple[VariantLine, ...]


def ttft_info(steps: Mapping[str, pd.DataFrame], arm: str = "prefix", base: str = "base") -> VariantsInfo:
    """Median TTFT by turn of each variant under `arm`, and of the first variant under `base`, the yardstick."""
    lines = [_line(variant, arm, _seconds(frame, arm)) for variant, frame in steps.items()]
    first = next(iter(steps), None)
    if first is not None:
        lines.append(_line(f"{first}, {base}", base, _seconds(steps[first], base)))
    return _info("What does the changed prompt do to the first token, by turn?", "s", lines)


def tokens_info(title: str, values: Mapping[str, pd.Series[float]], arm: str = "prefix") -> VariantsInfo:
    """Tokens to compute by turn (the index of each series), counted and not timed; one line a variant."""
    return _info(title, "tokens", [_line(name, arm, series) for name, series in values.items()])


def variants_figure(info: VariantsInfo, mode: Mode = "light") -> go.Figure:
    """Lines with markers; base, where it is drawn, is the thin one."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=320, hovermode="x unified")
    for number, line in enumerate(info.lines):
        look, color = number % len(_DASHES), arm_color(line.arm, mode)
        figure.add_scatter(
            x=line.turns, y=line.values, name=line.name, mode="lines+markers", hovertemplate=_HOVER[info.unit],
            line={"color": color, "width": 1.5 if line.arm == "base" else 2.5, "dash": _DASHES[look]},
            marker={"symbol": _MARKERS[look], "size": 9, "color": color},
        )  # fmt: skip
    figure.update_xaxes(title="turn", **turn_ticks(max(turn for line in info.lines for turn in line.turns)))
    figure.update_yaxes(title=_AXES[info.unit], rangemode="tozero")
    return figure


def _seconds(steps: pd.DataFrame, arm: str) -> pd.Series[float]:
    """TTFT in seconds of each finished step of the arm, by turn."""
    kept = finished(steps)
    kept = kept[kept["arm"] == arm]
    return pd.Series(ttft(kept).to_numpy(), index=kept["turn"].astype(int)).dropna()


def _line(name: str, arm: str, values: pd.Series[float]) -> VariantLine:
    medians = values.groupby(level=0).median()
    return VariantLine(
        name=name,
        arm=arm,
        turns=tuple(int(turn) for turn in medians.index),
        values=tuple(map(float, medians)),
        n=len(values),
    )


def _info(title: str, unit: Unit, lines: list[VariantLine]) -> VariantsInfo:
    drawn = tuple(line for line in lines if line.turns)
    return VariantsInfo(caption=_caption(title, unit, drawn), unit=unit, lines=drawn)


def _caption(title: str, unit: Unit, lines: tuple[VariantLine, ...]) -> Caption:
    if not lines:
        return Caption(title=title, empty="No step of it has finished.")
    of = sorted({line.n for line in lines})
    count = counted(of[0], "step") if len(of) == 1 else f"{of[0]} to {of[-1]} steps"
    how = "Median per turn" if unit == "s" else "Counted, not timed"
    told = "; ".join(f"{line.name}: {_said(line.values[0], unit)} to {_said(line.values[-1], unit)}" for line in lines)
    alt = f"{title} {_AXES[unit]}, first to last turn. {told}. {count} per line."
    return Caption(title=title, note=f"{how}; n = {count} per line.", alt=alt)


def _said(value: float, unit: Unit) -> str:
    return f"{value:.2f}" if unit == "s" else f"{value:,.0f}"
