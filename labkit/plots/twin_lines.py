"""What does a layer change, turn by turn, on the very same requests? One line with it and one without.

Both lines are of the same pairs, so that a turn which only one arm finished moves neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import seconds
from labkit.analysis.tables import Floats, floats, numbers
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.per_turn import turn_ticks
from labkit.plots.rows import counted
from labkit.plots.theme import Mode, arm_color, arm_marker

Measure = Literal["prefill", "ttft", "itl", "decode"]
WITHOUT = "_without"
"""What stands behind the name of a column of the arm without the layer."""


class _Said(NamedTuple):
    title: str
    axis: str


_SAID: dict[Measure, _Said] = {
    "prefill": _Said("How much prefill does the cache save, by turn?", "prefill of a step (s)"),
    "ttft": _Said("How long until the first token, with the split and without?", "time to first token (s)"),
    "itl": _Said("How long are a stream's longest gaps, with the split and without?", "p99 gap of a step (s)"),
    "decode": _Said("How long does decoding take, with drafts and without?", "first to last token (s)"),
}


@dataclass(frozen=True, kw_only=True)
class TwinLinesInfo:
    """Median seconds at each of `turns`, in the arm and in its twin; `n`: pairs."""

    caption: Caption
    arm: str
    twin: str
    measure: Measure
    turns: tuple[int, ...] = ()
    with_s: tuple[float, ...] = ()
    without_s: tuple[float, ...] = ()
    n: int = 0


def twin_lines_info(pairs: pd.DataFrame, arm: str, twin: str, measure: Measure) -> TwinLinesInfo:
    """`pairs`: a row per request, with the columns that `measure` needs, and the twin's with WITHOUT behind them."""
    if not len(pairs):
        return TwinLinesInfo(caption=_caption((), (), arm, twin, measure, 0), arm=arm, twin=twin, measure=measure)
    both = pd.DataFrame(
        {"turn": pairs["turn"], "on": _value(pairs, measure, ""), "off": _value(pairs, measure, WITHOUT)}
    ).dropna()
    medians = both.groupby("turn").median()
    on, off = (tuple(map(float, medians[side])) for side in ("on", "off"))
    return TwinLinesInfo(
        caption=_caption(on, off, arm, twin, measure, len(both)),
        arm=arm,
        twin=twin,
        measure=measure,
        turns=tuple(map(int, medians.index)),
        with_s=on,
        without_s=off,
        n=len(both),
    )


def twin_lines_figure(info: TwinLinesInfo, mode: Mode = "light") -> go.Figure:
    """Two lines in the arms' own colours and markers, the twin dotted."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=280, hovermode="x unified")
    for arm, values, dash in ((info.twin, info.without_s, "dot"), (info.arm, info.with_s, "solid")):
        color = arm_color(arm, mode)
        figure.add_scatter(
            x=info.turns, y=values, name=arm, mode="lines+markers", line={"color": color, "width": 2.5, "dash": dash},
            marker={"symbol": arm_marker(arm), "size": 8, "color": color}, hovertemplate="%{y:.3g} s",
        )  # fmt: skip
    figure.update_xaxes(title="turn", **turn_ticks(max(info.turns)))
    figure.update_yaxes(title=_SAID[info.measure].axis, rangemode="tozero")
    return figure


def _value(pairs: pd.DataFrame, measure: Measure, side: str) -> Floats:
    if measure == "prefill":
        return numbers(pairs, f"prefill_s{side}")
    if measure == "itl":
        return floats(pairs[f"itl_p99_s{side}"])
    first = numbers(pairs, f"t_first_token{side}")
    return first - numbers(pairs, f"t_send{side}") if measure == "ttft" else numbers(pairs, f"t_last{side}") - first


def _caption(on: tuple[float, ...], off: tuple[float, ...], arm: str, twin: str, measure: Measure, n: int) -> Caption:
    title = _SAID[measure].title
    if not n:
        return Caption(title=title, empty=f"No request has this measured both under {arm} and under {twin}.")
    ends = (
        f"first turn {seconds(on[0])} against {seconds(off[0])}, last turn {seconds(on[-1])} against {seconds(off[-1])}"
    )
    note = f"Median per turn; n = {counted(n, 'pair')} of the same request."
    return Caption(title=title, note=note, alt=f"{title} {arm} against {twin}: {ends}; {counted(n, 'pair')}.")
