"""The engines of the chosen arms, as they are now: started ahead of a run, or ended, from the Live page."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from labkit.experiments import ending, live, warm
from labkit.experiments.arm_state import ArmState, busy_words
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.jobs import JobStatus
from labkit.experiments.live import Choice

import loaders
import loaders.live as live_loaders
import widgets.live as inputs
from widgets import live_toggles
from widgets.frame import refusals_said


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What the page's buttons and toggles were drawn with. `going_on`: id of the job that goes on; `busy`: who holds
    an engine that Run needs.
    """

    refused: dict[str, str]
    going_on: str
    busy: str


def going_on(job: JobStatus | None) -> str:
    """Id of a job that goes on, empty when it does not; with its run, once it has one."""
    return f"{job.job.id} {job.run.id if job.run else ''}" if job and live.is_active(job) else ""


@st.fragment(run_every="2s")
@refusals_said
def engines(choice: Choice, drawn: Drawn) -> None:
    """The truth about the engines of the chosen arms, looked up anew; start one ahead of a run, or end them all.

    When it is another truth than the page was drawn with, the page is drawn anew.
    """
    job = loaders.current_job()
    states = live_loaders.states(choice, drawn.refused, job)
    busy = "" if live.is_active(job) else busy_words(states)
    if (going_on(job), busy) != (drawn.going_on, drawn.busy) or live_toggles.has_changed(live_loaders.wanted(job)):
        st.rerun()
    st.caption(inputs.in_words(choice))
    with st.container(horizontal=True, vertical_alignment="center"):
        inputs.arm_states(states)
        start_engine(choice, states[-1], live.is_active(job))
        end_engines(live.is_active(job))
    said = [live_loaders.one_flip_away(choice, drawn.refused, job), live_loaders.shared_words(states)]
    st.caption(literal(" ".join(filter(None, said))))


def start_engine(choice: Choice, state: ArmState, active: bool) -> None:
    """Start the arm's engine ahead of a run."""
    arm, can_start = choice.arm.label, state.kind in ("cold", "refused") and not active
    start = refusals_said(warm.warm)
    st.button(f"Start {arm}", key="warm", disabled=not can_start, on_click=start, args=(choice.profile, arm))


def end_engines(active: bool) -> None:
    """End every engine that nobody holds, when asked twice; the ending goes on by itself."""
    holders = loaders.holders()
    held = f"Not while an engine is held: by {', '.join(holders)}." if holders else None
    cannot = active or bool(holders) or not live_loaders.any_to_end()
    with st.popover("End engines", disabled=cannot, help=held, key="ask_end"):
        st.markdown("End every engine of this machine? Whoever sends one a request gets none answered.")
        end = refusals_said(ending.end_free)
        st.button("Yes, end them", key="end", disabled=cannot, help=held, on_click=end)
    for words in live_loaders.endings():
        st.caption(literal(words))
