"""What does company cost an agent? One line per arm against the number of agents, with intervals where there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.format import missing
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.theme import Mode, arm_color, arm_marker, arm_order

Measure = Literal["ttft", "itl", "stalls", "tokens"]


class _Said(NamedTuple):
    """A measure's question, its axis, and its columns in LoadRow: the value and the ends of its interval."""

    title: str
    axis: str
    value: str
    low: str | None = None
    high: str | None = None


_SAID: dict[Measure, _Said] = {
    "ttft": _Said(
        "How long until the first token, in company?",
        "median time to first token (s)",
        "ttft_p50_s",
        "ttft_low_s",
        "ttft_high_s",
    ),
    "itl": _Said(
        "How long are the longest gaps in a stream, in company?",
        "99th percentile of gaps (s)",
        "itl_p99_s",
        "itl_low_s",
        "itl_high_s",
    ),
    "stalls": _Said(
        "How often does a stream stand still, in company?",
        "stalls per 1000 tokens",
        "stalls_per_1000",
        "stalls_low",
        "stalls_high",
    ),
    "tokens": _Said("How much does the engine give, in company?", "tokens per second, all agents", "tokens_per_s"),
}


@dataclass(frozen=True, kw_only=True)
class LoadLine:
    """One arm: a value for each number of agents, and the ends of its interval; None where not measured."""

    arm: str
    agents: tuple[int, ...]
    values: tuple[float | None, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]
    runs: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class LoadInfo:
    """The lines, in the lab's order of arms."""

    caption: Caption
    measure: Measure
    lines: tuple[LoadLine, ...]


def load_info(rows: pd.DataFrame, measure: Measure = "ttft") -> LoadInfo:
    """`rows`: as `labkit.analysis.interference.interference` returns them."""
    lines = tuple(_line(rows[rows["arm"] == arm], arm, _SAID[measure]) for arm in arm_order(rows["arm"]))
    return LoadInfo(caption=_caption(lines, _SAID[measure]), measure=measure, lines=lines)


def load_figure(info: LoadInfo, mode: Mode = "light") -> go.Figure:
    """Lines with markers and error bars; the marker tells the arm where the colour cannot."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=300)
    shift = 0.04
    for place, line in enumerate(info.lines):
        offset = shift * (place - (len(info.lines) - 1) / 2)
        figure.add_scatter(x=[at + offset for at in line.agents], y=line.values, **_style(line, mode))
    levels = sorted({at for line in info.lines for at in line.agents})
    figure.update_xaxes(title="agents at once", tickvals=levels, range=[levels[0] - 0.4, levels[-1] + 0.4])
    figure.update_yaxes(title=_SAID[info.measure].axis, rangemode="tozero")
    return figure


def _line(rows: pd.DataFrame, arm: str, said: _Said) -> LoadLine:
    rows = rows.sort_values("agents")

    def column(name: str | None) -> tuple[float | None, ...]:
        if name is None:
            return (None,) * len(rows)
        return tuple(None if missing(value) else float(value) for value in rows[name])

    return LoadLine(
        arm=arm,
        agents=tuple(int(at) for at in rows["agents"]),
        values=column(said.value),
        lows=column(said.low),
        highs=column(said.high),
        runs=tuple(int(n) for n in rows["n_agent_runs"]),
    )


def _caption(lines: tuple[LoadLine, ...], said: _Said) -> Caption:
    if not any(value is not None for line in lines for value in line.values):
        return Caption(title=said.title, empty="No window under load yet: labkit run interference")
    alt = "; ".join(f"{line.arm}: {_words(line)}" for line in lines)
    return Caption(title=said.title, note=_note(lines), alt=f"{said.axis}. {alt}")


def _note(lines: tuple[LoadLine, ...]) -> str:
    runs = [n for line in lines for n in line.runs]
    spread = f"{min(runs)}" if min(runs) == max(runs) else f"{min(runs)} to {max(runs)}"
    bars = any(low is not None for line in lines for low in line.lows)
    return f"n = {spread} agent-runs a point; {'bars: 95 % over them' if bars else 'too few for an interval'}."


def _words(line: LoadLine) -> str:
    known = [(at, value) for at, value in zip(line.agents, line.values, strict=True) if value is not None]
    return ", ".join(f"{value:.3g} with {at}" for at, value in known)


def _style(line: LoadLine, mode: Mode) -> dict[str, Any]:
    color = arm_color(line.arm, mode)
    return {
        "name": line.arm,
        "mode": "lines+markers",
        "cliponaxis": False,
        "line": {"color": color, "width": 2.5},
        "marker": {"symbol": arm_marker(line.arm), "size": 9, "color": color},
        "error_y": {
            "array": [_apart(high, value) for high, value in zip(line.highs, line.values, strict=True)],
            "arrayminus": [_apart(value, low) for low, value in zip(line.lows, line.values, strict=True)],
            "thickness": 1.5,
            "width": 4,
            "color": color,
        },
        "hovertemplate": "%{y:.3g}",
    }


def _apart(more: float | None, less: float | None) -> float | None:
    return None if more is None or less is None else max(0.0, more - less)
