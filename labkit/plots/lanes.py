"""Who waits for what, second by second? One lane an agent, on one clock; each step's parts in their colours.

Under a step, a thin strip splits its prompt into what came from the cache and what was computed; above it, a line in
the arm's colour says who served it. A step in flight is hatched, a failed one is crossed. Every trace is of bars that
share one style, so that a few thousand shapes are a few dozen kilobytes. The box that can be pointed at and clicked is
the step's, not the part's: its `customdata` starts with the step's key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go

from labkit.plots.frame import framed, sentence
from labkit.plots.lane_bins import add_bins
from labkit.plots.lane_records import LanesInfo, Span, StepBox, Stretch
from labkit.plots.lane_words import PARTS
from labkit.plots.theme import TEXT, Mode, arm_color, part_color

_LOW_PX, _HIGH_PX, _FEW = 36, 62, 6
"""Height of a lane, where there are many and where there are few."""
_BAR, _STRIP, _LINE = (0.02, 0.44), (0.34, 0.13), (-0.29, 0.09)
"""Middle and height of the parts, of the strip and of the arm's line, in lanes, downwards from the lane's middle."""
_CLEAR = "rgba(0,0,0,0)"
_TOGETHER = -3.0
"""From here on, in lanes, there is room for one line of all arms above the first lane."""
_HOVER = (
    "<b>%{customdata[9]}</b><br>%{customdata[10]}<br>%{customdata[11]}<extra></extra>"  # the words follow the key of 9
)


def lanes_figure(info: LanesInfo, mode: Mode = "light") -> go.Figure:
    """The lanes, from above; time runs to the right."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    words = replace(info.caption, note="")  # a page writes it beside the lanes, over all of their width
    figure = framed(words, mode, height=_height(info), barmode="overlay", uirevision="lanes", bargap=0)
    if info.bins is not None:
        add_bins(figure, info, mode)
    else:
        _add_parts(figure, info.spans, mode)
        _add_strips(figure, info.steps, mode)
        _add_flights(figure, info, mode)
    _add_arms(figure, info.stretches, mode)
    _add_boxes(figure, info.steps, mode)
    _axes(figure, info)
    return figure


def _height(info: LanesInfo) -> int:
    """A few lanes are high, many are low; a hundred still fit two screens."""
    count = len(info.lanes)
    if info.bins is not None:
        return 96 + min(max(18, 560 // max(count, 1)), 30) * count if count <= 40 else 96 + max(9 * count, 720)
    return 96 + (_HIGH_PX if count <= _FEW else _LOW_PX) * count


def _bars(
    figure: go.Figure, rows: Sequence[tuple[int, float, float]], at: tuple[float, float], color: str, **style: Any
) -> None:
    """`rows`: lane, start, end. Milliseconds are as fine as anybody sees, and short in the figure's JSON."""
    middle, height = at
    figure.add_bar(
        orientation="h",
        y=[round(lane + middle, 2) for lane, _, _ in rows],
        base=[round(start, 3) for _, start, _ in rows],
        x=[round(max(end - start, 0.0), 3) for _, start, end in rows],
        width=height,
        **{"marker": {"color": color, "line": {"width": 0}}, "hoverinfo": "skip", **style},
        unselected={"marker": {"opacity": 1}},
    )


def _add_parts(figure: go.Figure, spans: Sequence[Span], mode: Mode) -> None:
    for part, (label, color) in PARTS.items():
        rows = [(span.lane, span.start, span.end) for span in spans if span.part == part]
        if rows:
            _bars(figure, rows, _BAR, part_color(color, mode), name=label)


def _add_strips(figure: go.Figure, steps: Sequence[StepBox], mode: Mode) -> None:
    """The prompt of each step as a strip of the step's own width: from the cache, then computed."""
    known = [(step, step.start + (step.end - step.start) * step.cached) for step in steps if step.cached is not None]
    cached = [(step.lane, step.start, until) for step, until in known if until > step.start]
    computed = [(step.lane, until, step.end) for step, until in known if until < step.end]
    if cached:
        _bars(figure, cached, _STRIP, part_color("cached", mode), name="strip: prompt from the cache")
    if computed:
        color = part_color("computed", mode)
        _bars(figure, computed, _STRIP, color, name="strip: computed", opacity=0.45)  # of the trace: a pale legend, too


def _add_flights(figure: go.Figure, info: LanesInfo, mode: Mode) -> None:
    rows = [(each.lane, each.start, each.end) for each in info.flights]
    if not rows:
        return
    color = part_color("unknown", mode)
    pattern = {"shape": "/", "fgcolor": color, "bgcolor": _CLEAR, "size": 7, "solidity": 0.45}
    marker = {"color": color, "pattern": pattern, "line": {"width": 1, "color": color}}
    words = [each.words for each in info.flights]
    _bars(figure, rows, _BAR, color, name="under way", marker=marker, hovertext=words, hoverinfo="text")


def _add_arms(figure: go.Figure, stretches: Sequence[Stretch], mode: Mode) -> None:
    """A line in the arm's colour, and its label where there is room."""
    for arm in dict.fromkeys(each.arm for each in stretches):
        rows = [(each.lane, each.start, each.end) for each in stretches if each.arm == arm]
        _bars(figure, rows, _LINE, _arm_color(arm, mode), name=arm, showlegend=False)
    shown = [each for each in stretches if each.shown]
    if shown:
        figure.add_scatter(
            mode="text",
            x=[round(each.start, 3) for each in shown],
            y=[each.lane + _LINE[0] - _LINE[1] / 2 for each in shown],
            text=[each.arm for each in shown],
            textposition="top right",
            textfont={"size": 11, "color": TEXT[mode]},
            hoverinfo="skip",
            showlegend=False,
        )


def _add_boxes(figure: go.Figure, steps: Sequence[StepBox], mode: Mode) -> None:
    """What can be pointed at: a box without colour over each step; a cross on those that failed."""
    if not steps:
        return
    rows = [(step.lane, step.start, step.end) for step in steps]
    data = [[*step.key, *step.words] for step in steps]
    style = {"customdata": data, "hovertemplate": _HOVER, "hoverinfo": None, "showlegend": False, "name": "steps"}
    _bars(figure, rows, (0.0, 0.9), _CLEAR, **style)
    failed = [step for step in steps if step.failed]
    if failed:
        figure.add_scatter(
            mode="markers",
            x=[round(step.start, 3) for step in failed],
            y=[step.lane + _BAR[0] for step in failed],
            marker={"symbol": "x", "size": 11, "color": TEXT[mode]},
            customdata=[[*step.key, *step.words] for step in failed],
            hovertemplate=_HOVER,
            name="failed",
        )


def _axes(figure: go.Figure, info: LanesInfo) -> None:
    count = len(info.lanes)
    every = max(1, -(-count // 40))
    shown = range(0, count, every)
    figure.update_xaxes(title=info.axis, range=[info.start, info.end], nticks=8, zeroline=False)
    figure.update_yaxes(
        tickvals=list(shown),
        ticktext=[info.lanes[place].label.replace(", ", _break(info)) for place in shown],
        range=[count - 0.45, _TOGETHER if any(each.lane < 0 for each in info.stretches) else -0.62],
        showgrid=False,
        zeroline=False,
        ticksuffix=" ",
        fixedrange=True,
    )


def _break(info: LanesInfo) -> str:
    """A label in two lines leaves more room for its lane, where lanes are high enough."""
    return "<br>" if len(info.lanes) <= _FEW and info.bins is None else ", "


def _arm_color(arm: str, mode: Mode) -> str:
    """An agent without an engine is served by no arm."""
    return part_color("unknown", mode) if arm == "none" else arm_color(arm, mode)
