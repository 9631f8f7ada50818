"""How does the time of a turn grow as the conversation grows? One line per arm, a gap where nothing was measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd
import plotly.graph_objects as go

from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import arms_of, counted, finished
from labkit.plots.theme import Mode, arm_color, arm_marker

Measure = Literal["ttft", "e2e"]
_TITLES: dict[Measure, str] = {
    "ttft": "How long until the first token, by turn?",
    "e2e": "How long does the reply take, by turn?",
}
_AXES: dict[Measure, str] = {"ttft": "time to first token (s)", "e2e": "send to last byte (s)"}

_FEW = 3


@dataclass(frozen=True, kw_only=True)
class ArmLine:
    """One arm. `seconds[i]` is the median at `turns[i]`; None where no step of that turn finished.

    `run`: `A` or `B` where two runs are drawn, else empty.
    """

    arm: str
    turns: tuple[int, ...]
    seconds: tuple[float | None, ...]
    n: int
    run: str = ""

    @property
    def name(self) -> str:
        return f"{self.run}: {self.arm}" if self.run else self.arm


@dataclass(frozen=True, kw_only=True)
class PerTurnInfo:
    """The lines, in the lab's order of arms."""

    caption: Caption
    measure: Measure
    lines: tuple[ArmLine, ...]


def per_turn_info(steps: pd.DataFrame, measure: Measure = "ttft") -> PerTurnInfo:
    """Median seconds per turn and arm, over repeats and tasks. Warm-up and failed steps do not count."""
    kept = finished(steps)
    kept = kept.assign(seconds=_seconds(kept, measure)).dropna(subset="seconds")
    last = int(kept["turn"].max()) if len(kept) else 0
    lines = tuple(_line(kept[kept["arm"] == arm], arm, last) for arm in arms_of(kept))
    return PerTurnInfo(caption=_caption(lines, measure), measure=measure, lines=lines)


def beside(a: PerTurnInfo, b: PerTurnInfo, arm: str) -> PerTurnInfo:
    """One arm of two runs, as two lines `A` and `B`."""
    both = [(name, line) for name, info in (("A", a), ("B", b)) for line in info.lines if line.arm == arm]
    lines = tuple(replace(line, run=name) for name, line in both)
    return PerTurnInfo(caption=_caption(lines, a.measure), measure=a.measure, lines=lines)


def per_turn_figure(info: PerTurnInfo, mode: Mode = "light") -> go.Figure:
    """Lines with markers; the marker tells the arm where the colour cannot."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=300, hovermode="x unified")
    for line in info.lines:
        figure.add_scatter(x=line.turns, y=line.seconds, mode="lines+markers", connectgaps=False, **_style(line, mode))
    figure.update_xaxes(title="turn", rangemode="tozero", **turn_ticks(max(len(line.turns) for line in info.lines)))
    figure.update_yaxes(title=_AXES[info.measure], rangemode="tozero")
    return figure


def turn_ticks(last: int) -> dict[str, object]:
    """Whole turns only, at most about eight labels."""
    return {"tick0": 1, "dtick": max(1, -(-last // 8)), "range": [0.5, last + 0.5]}


def _seconds(steps: pd.DataFrame, measure: Measure) -> pd.Series[float]:
    end = "t_first_token" if measure == "ttft" else "t_end"
    return steps[end] - steps["t_send"]


def _line(steps: pd.DataFrame, arm: str, last: int) -> ArmLine:
    median = steps.groupby("turn")["seconds"].median().reindex(range(1, last + 1))
    seconds = tuple(None if pd.isna(value) else float(value) for value in median)
    return ArmLine(arm=arm, turns=tuple(range(1, last + 1)), seconds=seconds, n=len(steps))


def _caption(lines: tuple[ArmLine, ...], measure: Measure) -> Caption:
    title = _TITLES[measure]
    if not lines:
        return Caption(title=title, empty="No step with a first token yet.")
    alt = "; ".join(f"{line.name}: {_ends(line)}" for line in lines)
    return Caption(
        title=title, note=f"Median per turn; {_counts(lines)}.", alt=f"{_AXES[measure]} from first to last turn. {alt}"
    )


def _counts(lines: tuple[ArmLine, ...]) -> str:
    """n, once when it is the same for every arm, its span where arms are many."""
    of = sorted({line.n for line in lines})
    each = "run" if lines[0].run else "arm"
    if len(of) == 1:
        return f"n = {counted(of[0], 'step')} per {each}"
    if len(lines) > _FEW:
        return f"n = {of[0]:,} to {of[-1]:,} steps per {each}"
    return "n = " + ", ".join(f"{line.n} {f'in run {line.run}' if line.run else line.arm}" for line in lines)


def _ends(line: ArmLine) -> str:
    known = [(turn, value) for turn, value in zip(line.turns, line.seconds, strict=True) if value is not None]
    (first, a), (last, b) = known[0], known[-1]
    return f"turn {first} {a:.2f} s, turn {last} {b:.2f} s ({counted(line.n, 'step')})"


def _style(line: ArmLine, mode: Mode) -> dict[str, object]:
    color = arm_color(line.arm, mode)
    return {
        "name": line.name,
        "line": {"color": color, "width": 2.5, "dash": "dash" if line.run == "B" else "solid"},
        "marker": {"symbol": arm_marker(line.arm), "size": 8, "color": color},
        "hovertemplate": "%{y:.2f} s",
    }
