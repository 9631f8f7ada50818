"""What was measured here, and what others published on the same metric: filled marks and hollow ones, never joined.

A claim stands in a row of its own, with who made it and on what, under the arm that has its layer alone. It is not
averaged with a measurement, not connected to one, and another metric's claim is left out: 46 times the TTFT says
nothing about end-to-end time.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import missing, times
from labkit.core.arms import LAYERS, Arm
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.theme import MUTED, SURFACE, TEXT, Mode, arm_color, arm_marker, arm_order

METRIC_WORDS = {
    "e2e_s": "end-to-end time",
    "ttft_s": "time to first token",
    "itl_p99_s": "99th percentile of the gap between chunks",
    "tokens_per_s": "generated tokens a second",
    "prompt_computed": "prompt tokens computed",
    "joules": "energy",
}
_LABEL_CHARS = 26
_FINE = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_COARSE = (0.01, 0.1, 1, 3, 10, 30, 100, 1000)
_ROW_PX = 46


@dataclass(frozen=True, kw_only=True)
class GainMark:
    """One row of the figure. `low`, `high`: the interval of a measurement, the published range of a claim, or None."""

    row: str
    arm: str
    value: float
    low: float | None
    high: float | None
    text: str
    claimed: bool


@dataclass(frozen=True, kw_only=True)
class GainsInfo:
    """Measured arms in the lab's order, each followed by the claims on its layer."""

    caption: Caption
    marks: tuple[GainMark, ...]


def gains_info(gains: pd.DataFrame, claims: pd.DataFrame, metric: str = "e2e_s") -> GainsInfo:
    """From arms' gains (columns of labkit.analysis.effect_rows.ArmGainRow) and claims (of labkit.store.claims)."""
    of_metric = gains[(gains["metric"] == metric) & gains["gain"].notna()]
    measured = {mark.arm: mark for mark in map(_measured, of_metric.to_dict("records"))}
    claimed = list(claim_marks(claims, metric))
    arms = arm_order([*measured, *(mark.arm for mark in claimed)])
    marks = tuple(
        mark
        for arm in arms
        for mark in (*([measured[arm]] if arm in measured else []), *(each for each in claimed if each.arm == arm))
    )
    return GainsInfo(caption=_caption(metric, len(measured), len(claimed), marks), marks=marks)


def claim_marks(claims: pd.DataFrame, metric: str) -> Iterator[GainMark]:
    """The claims on this metric that are a gain (unit `x`) of one layer, smallest first."""
    kept = claims[(claims["metric"] == metric) & (claims["unit"] == "x") & claims["value"].notna()]
    taken: set[str] = set()
    for row in kept[kept["layer"].isin(LAYERS)].sort_values("value").to_dict("records"):
        taken.add(label := _label(row, taken))
        yield GainMark(
            row=label,
            arm=Arm(**{str(row["layer"]): True}).label,
            value=float(row["value"]),
            low=None if missing(row["low"]) else float(row["low"]),
            high=None if missing(row["high"]) else float(row["high"]),
            text=f"{row['statement']} {row['source']}, {row['date']}. {row['caution']}",
            claimed=True,
        )


def _label(row: Mapping[Hashable, Any], taken: Collection[str]) -> str:
    """Who, and on what; the model too, or a number, where that is not enough to tell claims apart."""
    label = ", ".join(filter(None, (str(row["source"]), str(row["hardware"] or row["load"]))))
    if label in taken and row["model"]:
        label = f"{label}, {row['model']}"
    n = sum(each.startswith(label) for each in taken) + 1
    return f"{label} ({n})" if label in taken else label


def gains_figure(info: GainsInfo, mode: Mode = "light") -> go.Figure:
    """Gains on a log scale; 1 is base."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=80 + _ROW_PX * len(info.marks), showlegend=False)
    add_marks(figure, info.marks, mode)
    low, high = _ends(info.marks)
    figure.add_vline(x=1, line={"dash": "dot", "color": MUTED[mode], "width": 1})
    ticks = [tick for tick in (_FINE if high / low < 30 else _COARSE) if low <= tick <= high]
    figure.update_xaxes(
        type="log",
        title="gain, each over its own baseline",
        range=[math.log10(low), math.log10(high)],
        tickvals=ticks,
        ticktext=[f"{tick:g}x" for tick in ticks],
    )
    figure.update_yaxes(range=[len(info.marks) - 0.5, -0.5], showgrid=False, ticksuffix=" ", tickmode="array")
    figure.update_yaxes(tickvals=[mark.row for mark in info.marks], ticktext=[_tick(mark) for mark in info.marks])
    return figure


def add_claims(figure: go.Figure, claims: pd.DataFrame, metric: str, mode: Mode = "light") -> go.Figure:
    """Lay the claims on a metric into a figure of gains, as rows of their own; its y axis is one of categories."""
    return add_marks(figure, tuple(claim_marks(claims, metric)), mode)


def add_marks(figure: go.Figure, marks: Sequence[GainMark], mode: Mode) -> go.Figure:
    """One trace a mark. A claim is hollow, and a claimed range has a mark at each end: where within, nobody said."""
    for mark in marks:
        color, symbol = arm_color(mark.arm, mode), arm_marker(mark.arm)
        at = [mark.low, mark.high] if mark.claimed and mark.low and mark.high else [mark.value]
        figure.add_scatter(
            x=at,
            y=[mark.row] * len(at),
            mode="markers",
            marker={
                "symbol": f"{symbol}-open" if mark.claimed else symbol,
                "size": 11,
                "color": color,
                "line": {"width": 2 if mark.claimed else 1, "color": color if mark.claimed else SURFACE[mode]},
            },
            error_x=_interval(mark, color),
            hovertext=mark.text,
            hoverinfo="text",
        )
        figure.add_scatter(
            x=[mark.value if mark.high is None else mark.high],
            y=[mark.row],
            mode="text",
            text=[f"   {_said(mark)}"],
            textposition="middle right",
            textfont={"size": 12, "color": MUTED[mode] if mark.claimed else TEXT[mode]},
            hoverinfo="skip",
            cliponaxis=False,
        )
    return figure


def _interval(mark: GainMark, color: str) -> dict[str, Any] | None:
    """The 95 % interval of a measurement."""
    if mark.claimed or mark.low is None or mark.high is None:
        return None
    ends = {"array": [mark.high - mark.value], "arrayminus": [mark.value - mark.low]}
    return {"type": "data", "symmetric": False, **ends, "color": color, "thickness": 2, "width": 6}


def _measured(row: Mapping[Hashable, Any]) -> GainMark:
    value, arm = float(row["gain"]), str(row["arm"])
    low, high = (None if missing(row[name]) else float(row[name]) for name in ("low", "high"))
    between = f", 95 % interval {times(low)} to {times(high)}" if low is not None and high is not None else ""
    text = f"{arm}, measured: {times(value)}{between}. {row['verdict']}"
    return GainMark(row=arm, arm=arm, value=value, low=low, high=high, text=text, claimed=False)


def _said(mark: GainMark) -> str:
    if mark.low is None or mark.high is None:
        return times(mark.value)
    return f"{times(mark.low)} to {times(mark.high)}" if mark.claimed else f"{times(mark.value)}"


def _tick(mark: GainMark) -> str:
    if not mark.claimed:
        return f"<b>{mark.row}</b>"
    words, lines = mark.row.split(), [""]
    for word in words:
        if len(lines[-1]) + len(word) > _LABEL_CHARS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines)


def _ends(marks: Sequence[GainMark]) -> tuple[float, float]:
    """The ends of the axis: all ranges, and base."""
    low = min(mark.value if mark.low is None else mark.low for mark in marks)
    high = max(mark.value if mark.high is None else mark.high for mark in marks)
    return min(low, 1.0) / 1.3, max(high, 1.0) * 3.5


def _caption(metric: str, measured: int, claimed: int, marks: Sequence[GainMark]) -> Caption:
    words = METRIC_WORDS.get(metric, metric)
    title = f"What was measured, and what others claim: {words}"
    if not measured:
        return Caption(title=title, empty="No gain was measured on this metric: run base and another arm first.")
    beside = (
        f"Hollow: {claimed} published claims, on other hardware, models and loads; with their published range. "
        "They are not comparable, only near."
        if claimed
        else "No published claim is known on this metric."
    )
    return Caption(
        title=title,
        note=f"Filled: measured by this run, with the 95 % interval; above 1 is better. {beside}",
        alt="; ".join(f"{mark.row}, {'claimed' if mark.claimed else 'measured'}: {_said(mark)}" for mark in marks),
    )
