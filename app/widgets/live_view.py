"""One run on the Live page: followed while it goes on, still and whole when it has ended."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from labkit.core.arms import Arm
from labkit.experiments.dashboard.live.lane_clock import Clock
from labkit.experiments.dashboard.live.lanes import Window
from labkit.plots.acceptance import acceptance_by_kind_figure
from labkit.plots.arms_overview import arms_overview_figure
from labkit.plots.per_turn import per_turn_figure
from labkit.plots.tokens_per_turn import tokens_per_turn_figure
from labkit.plots.wall_ledger import wall_ledger_figure

import loaders
import loaders.live as live_loaders
import widgets
from widgets import live_results
from widgets.frame import refusals_said

CLOCKS: dict[Clock, str] = {"arm": "each arm from 0", "run": "as it happened"}
LASTS = {"all": "whole run", "60": "last minute", "600": "last 10 minutes"}
LONG_S = 90.0
DETAILS = ("Arms", "Turns", "Cache", "Drafts", "Table")
Flip = Callable[[str, Arm], None]


def show(run_id: str, arm: Arm, flip: Flip) -> None:
    """One run; `arm`: what the toggles mean now, `flip`: repeats the run under it."""
    run = loaders.opened(run_id)
    if run.live:
        follow(run_id)
        return
    widgets.run_state(run.view)
    live_results.findings(live_loaders.findings_of(run_id))
    repeat(run_id, arm, flip)
    if not run.answered:
        live_results.failed_lanes(live_loaders.lanes_of(run_id, "run"))
        return
    live_results.tiles(live_loaders.tiles_of(run_id))
    still_lanes(run_id)
    details(run_id)


@st.fragment(run_every="2s")  # each look takes processor time from an engine on this machine
@refusals_said
def follow(run_id: str) -> None:
    """A run that goes on; the page is drawn anew when it has ended."""
    run = loaders.opened(run_id)
    if not run.live:
        st.rerun()
    widgets.progress(run.view.progress)
    live_results.wish(live_loaders.wish_of(run_id))
    live_results.findings(live_loaders.findings_of(run_id))
    live_results.tiles(live_loaders.tiles_of(run_id))
    moving_lanes(run_id)
    if run.answered:
        details(run_id)


def repeat(run_id: str, arm: Arm, flip: Flip) -> None:
    """The same question under the arm that is toggled now; both runs are then drawn together."""
    if not live_loaders.can_repeat(run_id):
        return
    same, busy = live_loaders.newest_arm(run_id) == arm.label, live_loaders.is_busy()
    label = "Flip a toggle to repeat these steps" if same else f"Repeat these steps under {arm.label}"
    why = "Flip a toggle first." if same else "The same steps under this arm; both runs are then drawn together."
    why = "Not while another run goes on." if busy else why
    st.button(
        label, key="flip", icon=":material/repeat:", disabled=same or busy, help=why, on_click=flip, args=(run_id, arm)
    )


def still_lanes(run_id: str) -> None:
    """The lanes of a run that has ended: on which clock, and which part of it."""
    clock: Clock = st.segmented_control(
        "Clock", list(CLOCKS), default="arm", required=True, format_func=CLOCKS.__getitem__, key="clock",
        help="Each arm from 0: the same work, one below the other. As it happened: one clock for all.",
    )  # fmt: skip
    whole = live_loaders.seconds_of(run_id, clock)
    window: Window | None = None
    if whole > LONG_S:
        start, end = st.slider("Seconds shown", 0.0, whole, (0.0, whole), key=f"seconds_{clock}", format="%.0f s")
        window = (start, end) if (start, end) != (0.0, whole) and end > start else None
    live_results.lanes(live_loaders.lanes_of(run_id, clock, window), "lanes")


def moving_lanes(run_id: str) -> None:
    """The lanes of a run that goes on, up to now: its own now, where the run that it repeats took longer."""
    whole = live_loaders.own_seconds(run_id)
    last = "all"
    if whole > LONG_S:
        last = st.segmented_control(
            "Shown", list(LASTS), default="60", required=True, format_func=LASTS.__getitem__, key="last"
        )
    window = None if last == "all" else (max(0.0, whole - float(last)), whole)
    live_results.lanes(live_loaders.lanes_of(run_id, "run", window), "lanes_live")


def details(run_id: str) -> None:
    """The figures behind the finding; only those of the open tab are made."""
    tabs = st.tabs(DETAILS, key="details", on_change="rerun")
    for tab, draw in zip(tabs, (arms, turns, cache, drafts, table), strict=True):
        if tab.open:
            with tab:
                draw(run_id)


def arms(run_id: str) -> None:
    left, right = st.columns(2)
    with left:
        widgets.figure(live_loaders.overview(run_id), arms_overview_figure, "overview")
    with right:
        widgets.figure(live_loaders.ledger(run_id), wall_ledger_figure, "ledger")


def turns(run_id: str) -> None:
    left, right = st.columns(2)
    with left:
        widgets.figure(live_loaders.per_turn(run_id, "ttft"), per_turn_figure, "ttft")
    with right:
        widgets.figure(live_loaders.per_turn(run_id, "e2e"), per_turn_figure, "e2e")


def cache(run_id: str) -> None:
    widgets.figure(live_loaders.tokens(run_id), tokens_per_turn_figure, "tokens")


def drafts(run_id: str) -> None:
    widgets.figure(live_loaders.drafts(run_id), acceptance_by_kind_figure, "acceptance")


def table(run_id: str) -> None:
    widgets.arm_table(live_loaders.arms(run_id))
