"""Swim lanes of a run: a lane an agent (or an agent under an arm), from the run's folder alone, finished or not.

A step that was sent and has no row yet is drawn up to the moment of the newest event. Where there are more spans than
a browser likes to draw, each lane is cut into bins that show what took most of them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from labkit.analysis.spans import step_end, step_spans
from labkit.analysis.tables import measured
from labkit.core.arms import ARMS
from labkit.experiments.dashboard.live.flights import Sent, in_flight
from labkit.experiments.dashboard.live.lane_bins import binned
from labkit.experiments.dashboard.live.lane_clock import Clock, earlier
from labkit.experiments.dashboard.live.lane_stretches import stretches
from labkit.experiments.dashboard.live.lane_words import binned_caption, caption, lane_label, no_length, step_box
from labkit.experiments.dashboard.opened import Opened
from labkit.plots.lane_records import Flight, Lane, LanesInfo, Span, StepBox

MOST_SPANS = 1500
MOST_LANES = 24
MOST_ROWS = 120
_ALWAYS = ("prefill", "decode", "first", "rest", "failed")
_SEEN = 1 / 400
"""A part shorter than this share of what is shown is no wider than a pixel or two."""
Window = tuple[float, float]


def lanes(opened: Opened, clock: Clock = "run", window: Window | None = None) -> LanesInfo:
    """The lanes of a run. `window`: seconds on the clock that are shown; None: all of it."""
    steps = _together(_rows(opened, clock), clock)
    flights = in_flight(opened.events) if opened.live else []
    if not len(steps) and not flights:
        return LanesInfo(caption=caption(clock, steps, []))
    steps = steps.assign(off=earlier(steps, clock, min((each.t for each in flights), default=np.inf)))
    names = _lanes(steps, flights, clock)
    hanging = _flights(flights, steps, names, clock)
    if not hanging and not opened.answered and not _lasted(steps):
        return LanesInfo(caption=no_length(clock, len(steps)))
    start, end = window or (0.0, _end(steps, hanging))
    info = LanesInfo(
        caption=caption(clock, steps, list(names.values())),
        lanes=tuple(names.values()),
        flights=tuple(each for each in hanging if each.end >= start and each.start <= end),
        start=start,
        end=end,
        axis="seconds since the first step" if clock == "run" else "seconds, pauses between passes left out",
    )
    return _filled(info, opened, steps, list(names), clock)


def _rows(opened: Opened, clock: Clock) -> pd.DataFrame:
    rows = measured(opened.steps) if clock == "run" else opened.sent
    return rows.sort_values("t_send", kind="stable", ignore_index=True)


def _together(steps: pd.DataFrame, clock: Clock) -> pd.DataFrame:
    """A hundred agents under eight arms are no lanes that anybody reads: then an arm is one lane, of all its agents."""
    many = clock == "arm" and steps.groupby(["arm", "agent"]).ngroups > MOST_ROWS
    return steps.assign(lane_of="" if many else steps["agent"])


def _lane_key(arm: str, agent: str, clock: Clock) -> tuple[str, str]:
    return ("" if clock == "run" else arm, agent)


def _lanes(steps: pd.DataFrame, flights: list[Sent], clock: Clock) -> dict[tuple[str, str], Lane]:
    """Key to lane, in the order in which they are drawn: arms in the lab's order, agents by number."""
    pairs = {*zip(steps["arm"], steps["lane_of"], strict=True), *((each.arm, each.agent) for each in flights)}
    return {key: lane_label(*key) for key in sorted({_lane_key(*pair, clock) for pair in pairs}, key=_order)}


def _order(key: tuple[str, str]) -> tuple[int, str, int, str]:
    arm, agent = key
    places = {known.label: place for place, known in enumerate(ARMS)}
    return places.get(arm, len(places)), arm, int(agent) if agent.isdigit() else -1, agent


def _flights(
    flights: list[Sent], steps: pd.DataFrame, names: dict[tuple[str, str], Lane], clock: Clock
) -> list[Flight]:
    """Steps under way, moved onto the clock by what the steps of their arm (else of the run) are moved by."""
    order, found = list(names), []
    first = min((each.t for each in flights), default=0.0)
    for each in flights:
        same = steps[steps["arm"] == each.arm] if clock == "arm" else steps
        off = float(same["off"].iloc[-1]) if len(same) else first
        lane = order.index(_lane_key(each.arm, each.agent, clock))
        found.append(Flight(lane=lane, start=each.t - off, end=max(each.now - off, each.t - off), words=each.words))
    return found


def _lasted(steps: pd.DataFrame) -> bool:
    """Whether any step has a length that could be drawn: one that was refused at once has none."""
    return bool((step_end(steps) > steps["t_send"].to_numpy()).any())


def _end(steps: pd.DataFrame, flights: list[Flight]) -> float:
    ends = [float((step_end(steps) - steps["off"]).max())] if len(steps) else []
    return max([*ends, *(each.end for each in flights), 0.001]) * 1.01


def _filled(
    info: LanesInfo, opened: Opened, steps: pd.DataFrame, order: list[tuple[str, str]], clock: Clock
) -> LanesInfo:
    """With what is to be drawn: spans and boxes, or bins."""
    where = {key: place for place, key in enumerate(order)}
    at = [where[_lane_key(arm, agent, clock)] for arm, agent in zip(steps["arm"], steps["lane_of"], strict=True)]
    steps = steps.assign(lane=at)
    spans = _spans(steps, bool(opened.info.asked.get("gaps")), info)
    shared = bool((steps["lane_of"] == "").any())
    many = shared or len(spans) > MOST_SPANS or len(info.lanes) > MOST_LANES
    info = replace(info, stretches=stretches(steps, info, clock, together=many))
    if many:
        bins = binned(spans, len(info.lanes), info.start, info.end)
        return replace(info, bins=bins, caption=binned_caption(info.caption, bins.width))
    drawn = tuple(Span(lane=a, part=b, start=c, end=d) for a, b, c, d in spans.itertuples(index=False))
    return replace(info, spans=drawn, steps=_boxes(steps, opened, info))


def _spans(steps: pd.DataFrame, tools: bool, info: LanesInfo) -> pd.DataFrame:
    """Columns lane, part, start, end, on the lanes' clock, of what would be seen."""
    spans = step_spans(steps, tools)
    of, off = spans["step"].to_numpy(dtype=np.int64), steps["off"].to_numpy(dtype=np.float64)
    spans = spans.assign(lane=steps["lane"].to_numpy()[of], start=spans["start"] - off[of], end=spans["end"] - off[of])
    long = spans["end"] - spans["start"] > (info.end - info.start) * _SEEN
    seen = (spans["end"] > info.start) & (spans["start"] < info.end) & (long | spans["part"].isin(_ALWAYS))
    return spans.loc[seen, ["lane", "part", "start", "end"]]


def _boxes(steps: pd.DataFrame, opened: Opened, info: LanesInfo) -> tuple[StepBox, ...]:
    made = (step_box(row, opened.id) for row in steps.itertuples(index=False))
    return tuple(box for box in made if box.end >= info.start and box.start <= info.end)
