"""The section on the prefill/decode split."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from labkit.analysis.format import count
from labkit.experiments.dashboard.layers.split import SplitSection
from labkit.experiments.dashboard.layers.transfers import Trouble
from labkit.experiments.dashboard.literal import literal
from labkit.plots.interference import timeline_figure
from labkit.plots.load_lines import load_figure
from labkit.plots.transfers import transfers_figure
from labkit.plots.twin_lines import twin_lines_figure

import loaders.layers
from widgets.layer_parts import figure, grid, head


def split(run_id: str, arm: str, cache: str, condition: str | None) -> None:
    """The prefill/decode split."""
    shown: SplitSection = loaders.layers.split(run_id, arm, cache, condition)
    head(shown.finding, shown.facts, shown.unpaired, shown.notes)
    if shown.cannot:
        st.warning(literal(shown.cannot), icon=":material/developer_board_off:")
    if shown.where:
        st.caption(f"Where it ran: {literal(shown.where)}.")
    load(shown)
    grid(*((info, twin_lines_figure, f"twin-{info.measure}") for info in shown.lines))
    left, right = st.columns(2)
    with left:
        figure(shown.transfers, transfers_figure, "transfers")
    with right:
        failures(shown.troubles)


def load(shown: SplitSection) -> None:
    """What company costs, where the run was under load."""
    if not shown.loaded:
        return
    grid(*((info, load_figure, f"load-{info.measure}") for info in shown.loaded.lines))
    figure(shown.loaded.moment, timeline_figure, "moment")


def failures(troubles: Sequence[Trouble]) -> None:
    """What went wrong on the way from prefill to decode; a dash where nobody counts it."""
    st.subheader("What failed?")
    for one in troubles:
        words = one.words if one.n is not None else f"not counted in this run: {one.words}"
        of = "" if one.of is None or one.n is None else f" of {count(one.of)}"
        icon = "help" if one.n is None else "error" if one.n else "check_circle"
        st.markdown(f":material/{icon}: **{count(one.n)}**{of} {one.what}  \n:small[:gray[{literal(words)}]]")
