"""The engines of the chosen arms, as they are now: started ahead of a run, or ended, from the Live page."""

from __future__ import annotations

import streamlit as st
from labkit.experiments import live, warm
from labkit.experiments.arm_state import ArmState, busy_words
from labkit.experiments.jobs import JobStatus
from labkit.experiments.live import Choice

import loaders
import loaders.live as live_loaders
import widgets.live as inputs


@st.fragment(run_every="2s")
def engines(choice: Choice, refused: dict[str, str], job: JobStatus | None, busy: str) -> None:
    """The truth about the engines of the chosen arms, looked up anew; start one ahead of a run, or end them all.

    `busy`: what the page's Run button was drawn with; when it is no longer so, the page is drawn anew.
    """
    st.caption(inputs.in_words(choice))
    active = live.is_active(job)
    states = live_loaders.states(choice, refused, job)
    if not active and busy_words(states) != busy:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        inputs.arm_states(states)
        start_engine(choice, states[-1], active)
        end_engines(active)
    st.caption(" ".join(filter(None, [live_loaders.one_flip_away(choice, refused, job), *inputs.how(states)])))


def start_engine(choice: Choice, state: ArmState, active: bool) -> None:
    """Start the arm's engine ahead of a run."""
    arm, can_start = choice.arm.label, state.kind in ("cold", "refused") and not active
    st.button(f"Start {arm}", key="warm", disabled=not can_start, on_click=warm.warm, args=(choice.profile, arm))


def end_engines(active: bool) -> None:
    """End every engine, unless somebody measures on one."""
    holders = loaders.holders()
    held = f"Not while an engine is held: by {', '.join(holders)}." if holders else None
    if st.button("End engines", key="end", disabled=active or bool(holders) or not loaders.any_engine(), help=held):
        with st.spinner("Ending the engines"):
            warm.end_all()
        st.rerun(scope="fragment")
