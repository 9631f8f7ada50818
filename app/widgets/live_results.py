"""What a live run found: words, tiles and swim lanes."""

from __future__ import annotations

from typing import Any

import streamlit as st
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.dashboard.live.finding import Finding
from labkit.experiments.dashboard.live.jump import step_address
from labkit.experiments.dashboard.live.tiles import Tile, Tiles
from labkit.experiments.dashboard.live.wish import Wish
from labkit.plots.lane_records import LanesInfo
from labkit.plots.lanes import lanes_figure
from labkit.plots.theme import Mode

LOOKS = {
    "faster": ":material/trending_up:",
    "slower": ":material/trending_down:",
    "same": ":material/trending_flat:",
    "unknown": ":material/hourglass_empty:",
}
WISHES = {"serving": ":material/route:", "waiting": ":material/hourglass_top:", "refused": ":material/block:"}
COLORS = {"better": "green", "worse": "red"}
TRAJECTORY = "app_pages/trajectory.py"


def findings(found: tuple[Finding, ...]) -> None:
    """The first one large, the others folded away."""
    if not found:
        return
    first, *others = found
    with st.container(border=True):
        st.markdown(f"### {LOOKS[first.tone]} {literal(first.said)}")
        _behind(first)
        if others:
            with st.expander(f"More comparisons ({len(others)})"):
                for other in others:
                    st.markdown(f"{LOOKS[other.tone]} **{other.arm}** against {other.against}: {literal(other.said)}")
                    _behind(other)


def _behind(found: Finding) -> None:
    if found.because:
        st.markdown(literal(" ".join(found.because)))
    if found.but:
        st.caption(literal(" ".join(found.but)))


def wish(said: Wish | None) -> None:
    """Where the next steps go."""
    if said is not None:
        st.markdown(f"{WISHES[said.kind]} {literal(said.said)}")


def tiles(shown: Tiles) -> None:
    """All tiles, as many in a row as there is room for."""
    if not shown.tiles:
        return
    st.caption(f"**{shown.arm}** now: {shown.over}.")
    with st.container(horizontal=True):
        for each in shown.tiles:
            _tile(each)


def _tile(tile: Tile) -> None:
    words = ": ".join(filter(None, [tile.verdict, tile.than]))
    st.metric(
        tile.label,
        tile.value,
        delta=tile.delta or None,
        delta_color=COLORS.get(tile.verdict, "off"),
        delta_arrow="off" if tile.verdict == "same" else "auto",
        delta_description=words or None,
        help=tile.help,
        border=True,
        width=262,
        height="stretch",
    )


def failed_lanes(info: LanesInfo) -> None:
    """Of a run in which nothing got an answer: its lanes, where its steps took any time; the finding says the rest."""
    if info.lanes:
        lanes(info, "lanes")


def lanes(info: LanesInfo, key: str) -> None:
    """The lanes; a click on a step opens it on the Trajectory page."""
    mode: Mode = "dark" if st.context.theme.type == "dark" else "light"
    words = info.caption.alt or f"{info.caption.title} {info.caption.empty}"
    event: Any = st.plotly_chart(
        lanes_figure(info, mode), theme=None, key=key, alt=words, config={"displayModeBar": False},
        on_select="rerun", selection_mode="points",
    )  # fmt: skip
    if info.caption.note and not info.caption.empty:
        st.caption(info.caption.note)
    if info.steps:
        st.caption(":material/ads_click: A click on a step opens what was said in it.")
    if address := step_address(event["selection"]["points"]):
        st.switch_page(TRAJECTORY, query_params=address)
