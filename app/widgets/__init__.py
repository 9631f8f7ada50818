"""Inputs and views that pages put together: each shows one thing that labkit says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from labkit.analysis.arms import ArmRow
from labkit.core.columns import columns_of
from labkit.core.progress import Progress
from labkit.experiments.arm_state import ArmState
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.jobs import JobStatus
from labkit.experiments.view import RunView
from labkit.experiments.waiting import in_words
from labkit.plots.theme import Mode

LOOKS = {
    "warm": (":material/check_circle:", "green"),
    "busy": (":material/lock:", "orange"),
    "starting": (":material/hourglass_top:", "blue"),
    "refused": (":material/block:", "red"),
    "cold": (":material/ac_unit:", "gray"),
}
BADGES = {"done": "green", "running": "blue", "partial": "orange", "cancelled": "orange", "failed": "red"}
COLUMNS = {
    "arm": ("arm", None, 95),
    "n_steps": ("steps", "%d", 55),
    "n_failed": ("failed", "%d", 55),
    "ratio_to_base": ("× base", "%.2f", 65),
    "n_pairs": ("pairs", "%d", 55),
    "e2e_s": ("sum (s)", "%.1f", 70),
    "ttft_p50_s": ("TTFT p50 (s)", "%.2f", 95),
    "itl_p50_s": ("ITL p50 (ms)", "%.1f", 95),
    "tpot_p50_s": ("TPOT p50 (ms)", "%.1f", 105),
    "prompt_computed": ("computed", "localized", 80),
    "prompt_cached": ("cached", "localized", 70),
    "hit_rate": ("hits", "percent", 65),
    "hit_ceiling": ("ceiling", "percent", 65),
    "acceptance_rate": ("accepted", "percent", 75),
}
"""Column to its label, format and width in px; all widths together fit a screen of 1280 px."""
IN_MS = ["itl_p50_s", "tpot_p50_s"]


def arm_state(state: ArmState) -> None:
    """An arm and what is known of its engine."""
    icon, color = LOOKS[state.kind]
    st.markdown(f"**{state.arm}** :{color}[{icon} {literal(state.words)}]")
    if state.how:
        st.caption(state.how)


def progress(said: Progress | None) -> None:
    """How far a run is."""
    if said is None:
        st.progress(0.0, text="starting the run's process")
        return
    share = min(1.0, said.done / said.total) if said.done is not None and said.total else 0.0
    st.progress(share, text=literal(in_words(said)))


def run_state(shown: RunView) -> None:
    """How a run ended, with the words of whatever refused, and what to do next."""
    info = shown.info
    st.markdown(f":{BADGES[info.state]}-badge[{info.state}] {literal(shown.summary)}. {literal(info.note)}")
    for arm, words in {**shown.refused, **shown.died}.items():
        icon = ":material/block:" if arm in shown.refused else ":material/heart_broken:"
        with st.expander(f"{arm}: {literal(words)}", icon=icon):
            st.code("\n".join(shown.log_tail.get(arm) or ["It left no log."]), language=None)


def failed_job(job: JobStatus) -> None:
    """A job that ended before there was a run: what its process printed last, unless it was told to stop."""
    if job.state == "cancelled":
        st.info("The run was stopped before it had begun.", icon=":material/stop:")
        return
    st.error("The run's process ended before it had begun.", icon=":material/error:")
    st.code("\n".join(job.log_tail) or "It printed nothing.", language=None)


def figure(info: Any, draw: Callable[[Any, Mode], Any], key: str) -> None:
    """One figure in the colours of the page, with the finding in words for who cannot see it."""
    mode: Mode = "dark" if st.context.theme.type == "dark" else "light"
    words = info.caption.alt or f"{info.caption.title} {info.caption.empty}"
    st.plotly_chart(draw(info, mode), theme=None, key=key, alt=words, config={"displayModeBar": False})


def arm_table(table: Any) -> None:
    """Every arm's numbers, as labkit.analysis.arms.arm_table has them; a column's meaning is its help, a dash is "not
    measured".
    """
    meanings = {column.name: column.meaning for column in columns_of(ArmRow)}
    config = {
        name: st.column_config.Column(label, help=meanings[name], width=width)
        if form is None
        else st.column_config.NumberColumn(label, help=meanings[name], format=form, width=width)
        for name, (label, form, width) in COLUMNS.items()
    }
    table = table[list(COLUMNS)]
    st.dataframe(
        table.assign(**{name: table[name] * 1000 for name in IN_MS}),
        column_config=config,
        hide_index=True,
        placeholder="–",
        key="arm_table",
        alt="Arms",
    )
