"""What happens to a stream when somebody else's long prompt arrives? The clearest moment of each arm, on one time line.

Each agent has a lane. Orange: from its send until its first token. Ticks: chunks as they came. Grey: a stall.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from labkit.analysis.stalls import gaps, lane
from labkit.analysis.tables import Floats, floats, is_finished, measured
from labkit.core.conditions import of_agents
from labkit.plots.frame import Caption, framed, sentence
from labkit.plots.theme import Mode, arm_order, part_color

TITLE = "What happens to a stream when another agent's prompt arrives?"
_AROUND_S = 1.0
Span = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Lane:
    """One agent of one arm. Times in seconds since the arriving prompt was sent."""

    arm: str
    agent: str
    arrives: bool
    waits: tuple[Span, ...]
    chunks: tuple[float, ...]
    stalls: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True)
class TimelineInfo:
    """The lanes from top to bottom, and how much of the time is drawn."""

    caption: Caption
    lanes: tuple[Lane, ...]
    span: Span = (0.0, 1.0)


def timeline_info(steps: pd.DataFrame, chunks: pd.DataFrame, alone_s: Mapping[str, float], agents: int) -> TimelineInfo:
    """The moment of each arm, with so many agents, at which a prompt was waited for longest while another stream ran.

    `alone_s`: as `labkit.analysis.stalls.alone` returns it.
    """
    steps, chunks = (table[table["condition"] == of_agents(agents)] for table in (steps, chunks))
    found = gaps(steps, chunks, alone_s)
    lanes: list[Lane] = []
    ends: list[Span] = []
    for arm in arm_order(steps["arm"]):
        own = steps[steps["arm"] == arm]
        if (moment := _moment(own)) is not None:
            lanes += _lanes(arm, moment, own, chunks[chunks["arm"] == arm], found[found["arm"] == arm])
            ends.append((-_AROUND_S, float(moment["t_first_token"] - moment["t_send"]) + _AROUND_S))
    if not lanes:
        return TimelineInfo(caption=Caption(title=TITLE, empty="No prompt arrived while another stream ran."), lanes=())
    span = min(a for a, _ in ends), max(b for _, b in ends)
    return TimelineInfo(caption=_caption(lanes, agents), lanes=tuple(lanes), span=span)


def timeline_figure(info: TimelineInfo, mode: Mode = "light") -> go.Figure:
    """A lane per agent; the legend says what is what."""
    if info.caption.empty:
        return sentence(info.caption, mode)
    figure = framed(info.caption, mode, height=60 + 44 * len(info.lanes))
    names = [_name(lane) for lane in info.lanes]
    for part, color, width in (
        ("waits", part_color("first", mode), 16),
        ("stalls", part_color("unknown", mode), 10),
    ):
        x, y = _segments(info.lanes, names, part)
        label = "waits for its first token" if part == "waits" else "stands still (stall)"
        figure.add_scatter(x=x, y=y, mode="lines", name=label, line={"color": color, "width": width}, hoverinfo="skip")
    x_chunks = [t for lane in info.lanes for t in lane.chunks]
    y_chunks = [name for lane, name in zip(info.lanes, names, strict=True) for _ in lane.chunks]
    tick = {"symbol": "line-ns-open", "size": 13, "color": part_color("rest", mode), "line": {"width": 2}}
    figure.add_scatter(x=x_chunks, y=y_chunks, mode="markers", name="a chunk came", marker=tick, hoverinfo="x")
    figure.add_vline(x=0, line={"color": part_color("unknown", mode), "width": 1, "dash": "dot"})
    figure.update_xaxes(title="seconds since the prompt was sent", range=list(info.span))
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], range=[-0.6, len(names) - 0.4])
    return figure


def _moment(steps: pd.DataFrame) -> pd.Series | None:
    """The step that counts whose wait for the first token lies longest within another agent's stream."""
    done = measured(steps)
    done = done[is_finished(done) & done["t_first_token"].notna()]
    streams = steps[steps["t_first_token"].notna() & steps["t_last"].notna()]
    if done.empty or streams.empty:
        return None
    overlap = _overlap(done, streams)
    best = int(np.argmax(overlap))
    return done.iloc[best] if overlap[best] > 0 else None


def _overlap(waits: pd.DataFrame, streams: pd.DataFrame) -> Floats:
    """For each waiting step: the longest time in which one other agent's stream ran meanwhile, in seconds."""
    begin = np.maximum(floats(waits["t_send"])[:, None], floats(streams["t_first_token"])[None, :])
    end = np.minimum(floats(waits["t_first_token"])[:, None], floats(streams["t_last"])[None, :])
    other = lane(waits["agent"]).to_numpy()[:, None] != lane(streams["agent"]).to_numpy()[None, :]
    same = waits["repeat"].to_numpy()[:, None] == streams["repeat"].to_numpy()[None, :]
    return np.asarray(np.where(other & same, end - begin, 0.0).clip(min=0.0).max(axis=1), dtype=np.float64)


def _lanes(
    arm: str,
    moment: pd.Series,
    steps: pd.DataFrame,
    chunks: pd.DataFrame,
    found: pd.DataFrame,
) -> list[Lane]:
    t0, until = float(moment["t_send"]), float(moment["t_first_token"]) + _AROUND_S
    here = (t0 - _AROUND_S, until)
    steps, chunks, found = (table[table["repeat"] == moment["repeat"]] for table in (steps, chunks, found))
    arriving = str(moment["agent"]).split(".")[0]
    agents = sorted(set(lane(steps["agent"])), key=lambda agent: (agent != arriving, int(agent)))
    return [
        Lane(
            arm=arm,
            agent=agent,
            arrives=agent == arriving,
            waits=_spans(steps[lane(steps["agent"]) == agent], "t_send", "t_first_token", t0, here),
            chunks=tuple(float(t) - t0 for t in sorted(_mine(chunks, agent)["t"]) if here[0] <= t <= here[1]),
            stalls=_spans(_mine(found, agent)[_mine(found, agent)["stall"]], "start", "end", t0, here),
        )
        for agent in agents
    ]


def _mine(table: pd.DataFrame, agent: str) -> pd.DataFrame:
    return table[lane(table["agent"]) == agent]


def _spans(table: pd.DataFrame, start: str, end: str, t0: float, here: Span) -> tuple[Span, ...]:
    known = table[table[end].notna() & (table[end] > here[0]) & (table[start] < here[1])].sort_values(start)
    pairs = zip(floats(known[start]), floats(known[end]), strict=True)
    return tuple((max(a, here[0]) - t0, min(b, here[1]) - t0) for a, b in pairs)


def _segments(lanes: tuple[Lane, ...], names: list[str], part: str) -> tuple[list[float | None], list[str]]:
    x: list[float | None] = []
    y: list[str] = []
    for lane_, name in zip(lanes, names, strict=True):
        for a, b in getattr(lane_, part):
            x += [a, b, None]
            y += [name] * 3
    return x, y


def _name(lane_: Lane) -> str:
    return f"{lane_.arm} · agent {lane_.agent}"


def _caption(lanes: list[Lane], agents: int) -> Caption:
    alt = "; ".join(
        f"{_name(each)}: {len(each.chunks)} chunks, {len(each.stalls)} stalls" for each in lanes if not each.arrives
    )
    note = f"{agents} agents; of each arm, the longest wait for a first token that fell into another agent's stream."
    return Caption(title=TITLE, note=note, alt=alt)
