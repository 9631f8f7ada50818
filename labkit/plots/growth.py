"""How does the cost of an agent grow with its steps? One line per arm on log axes, where its slope is the exponent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.effect_words import TOO_FEW
from labkit.analysis.format import count, plain, seconds
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.rows import arms_of, counted
from labkit.plots.theme import MUTED, Mode, arm_color, arm_marker

Measure = Literal["prompt_computed", "e2e_s"]
_TITLES: dict[Measure, str] = {
    "prompt_computed": "How many prompt tokens must be computed, by the number of steps?",
    "e2e_s": "How long does the agent wait for the engine, by the number of steps?",
}
_AXES: dict[Measure, str] = {"prompt_computed": "tokens computed (log scale)", "e2e_s": "seconds (log scale)"}
_GUIDE = "in step with the steps"


@dataclass(frozen=True, kw_only=True)
class GrowthLine:
    """One arm: `values[i]` is the sum over a pass of `steps[i]`; `exponent` and `verdict` as ExponentRow has them."""

    arm: str
    steps: tuple[int, ...]
    values: tuple[float, ...]
    n_passes: int
    exponent: float | None
    verdict: str


@dataclass(frozen=True, kw_only=True)
class GrowthInfo:
    """The lines in the lab's order of arms, and what growth in step would look like from the first arm's first cut."""

    caption: Caption
    measure: Measure
    lines: tuple[GrowthLine, ...]
    guide: tuple[float, ...]


def growth_info(growth: pd.DataFrame, exponents: pd.DataFrame, measure: Measure = "prompt_computed") -> GrowthInfo:
    """From `growth_table` and `exponent_table`; counts without a whole pass are left out."""
    kept = growth[growth[measure].notna() & (growth[measure] > 0)]
    lines = tuple(_line(arm, kept[kept["arm"] == arm], exponents, measure) for arm in arms_of(kept))
    first = lines[0] if lines else None
    guide = tuple(first.values[0] * n / first.steps[0] for n in first.steps) if first else ()
    return GrowthInfo(caption=_caption(lines, measure), measure=measure, lines=lines, guide=guide)


def growth_figure(info: GrowthInfo, mode: Mode = "light") -> go.Figure:
    """Markers tell the arms where colours cannot; the dotted line is no measurement."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=300)
    shown, tick = (count, "~s") if info.measure == "prompt_computed" else (seconds, "~g")
    dotted = {"color": MUTED[mode], "dash": "dot", "width": 1.5}
    figure.add_scatter(x=info.lines[0].steps, y=info.guide, mode="lines", name=_GUIDE, hoverinfo="skip", line=dotted)
    for line in info.lines:
        told = [f"{line.arm}, {counted(n, 'step')}: {shown(v)}" for n, v in zip(line.steps, line.values, strict=True)]
        figure.add_scatter(
            x=line.steps, y=line.values, mode="lines+markers", hovertext=told, hoverinfo="text", **_style(line, mode)
        )
    ticks = sorted({n for line in info.lines for n in line.steps})
    figure.update_xaxes(title="steps of the agent (log scale)", type="log", tickvals=ticks, ticktext=ticks)
    figure.update_yaxes(title=_AXES[info.measure], type="log", tickformat=tick, dtick=_dtick(info))
    return figure


def _dtick(info: GrowthInfo) -> str | int:
    """A tick per decade, or at 1, 2 and 5 where that would leave the axis bare."""
    values = [*info.guide, *(value for line in info.lines for value in line.values)]
    return "D2" if max(values) / min(values) < 50 else 1


def _line(arm: str, of: pd.DataFrame, exponents: pd.DataFrame, measure: Measure) -> GrowthLine:
    ordered = of.sort_values("steps")
    told: list[Any] = exponents[(exponents["arm"] == arm) & (exponents["measure"] == measure)].to_dict("records")
    exponent = told[0]["exponent"] if told else None
    return GrowthLine(
        arm=arm,
        steps=tuple(int(n) for n in ordered["steps"]),
        values=tuple(float(value) for value in ordered[measure]),
        n_passes=int(ordered["n_passes"].min()),
        exponent=None if pd.isna(exponent) else float(exponent),
        verdict=told[0]["verdict"] if told else "",
    )


def _caption(lines: tuple[GrowthLine, ...], measure: Measure) -> Caption:
    title = _TITLES[measure]
    if not lines:
        return Caption(title=title, empty="No agent was cut after a number of steps: labkit run steps does that.")
    slopes = ", ".join(f"{line.arm} {plain(line.exponent)}" for line in lines)
    told = "; ".join(f"{line.arm}: {line.verdict}" for line in lines if line.verdict)
    n = counted(min(line.n_passes for line in lines), "pass").replace("passs", "passes")
    note = f"Growth exponent: {slopes}; the dotted line has 1. {_doubt(lines)}Mean of {n} per point."
    ends = "; ".join(f"{line.arm} from {line.values[0]:,.0f} to {line.values[-1]:,.0f}" for line in lines)
    return Caption(title=title, note=note, alt=f"{title} {_AXES[measure]}: {ends}. Exponents: {slopes} ({told}).")


def _doubt(lines: tuple[GrowthLine, ...]) -> str:
    return "Too few passes for an interval. " if any(line.verdict == TOO_FEW for line in lines) else ""


def _style(line: GrowthLine, mode: Mode) -> dict[str, Any]:
    color = arm_color(line.arm, mode)
    return {
        "name": line.arm,
        "line": {"color": color, "width": 2.5},
        "marker": {"symbol": arm_marker(line.arm), "size": 9, "color": color},
    }
