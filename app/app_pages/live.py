"""Toggle a layer, send the same requests under that arm and under base, and see at once what it was worth."""

import streamlit as st
from labkit.core.arms import Arm, arm_named
from labkit.core.errors import LabError
from labkit.experiments import jobs, live
from labkit.experiments.arm_state import busy_words
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.jobs import JobStatus
from labkit.experiments.live import Choice

import loaders
import loaders.live as live_loaders
import widgets
import widgets.live as inputs
import widgets.live_view as live_view
from widgets.live_engines import engines
from widgets.runs import pick_run, show_newest

NO_RECORDING = "No recording is there to replay. Make one: `labkit record --help`."
NO_RUN = (
    "No run yet. Press **Run**: a few steps of a real agent go to base and then to the arm that is toggled above, and "
    "what the layer was worth stands here in words, while it is measured and afterwards."
)
FIRST = Arm(prefix_caching=True)  # what the toggles begin with: the layer whose effect is seen soonest


def start(choice: Choice) -> None:
    """Start the job; what is wrong with the question is kept, to be shown by the button."""
    attempt(lambda: live.start(choice))


def flip(run_id: str, arm: Arm) -> None:
    """Ask the run's own question again, under this arm alone."""
    attempt(lambda: live.flip_and_repeat(run_id, arm))


def attempt(begin) -> None:
    """Begin a job whose run is then the one that is shown."""
    st.session_state["refusal"] = ""
    try:
        begin()
        show_newest()
    except LabError as error:
        st.session_state["refusal"] = str(error)


def steer() -> None:
    """A toggle was flipped: a live run that goes on takes it for the next step."""
    job = loaders.newest_job()
    if live.can_steer(job):
        live.steer(job.job.id, inputs.chosen_arm())


def stop(job: JobStatus) -> None:
    """Ask the job to end in good order; it says itself when it has."""
    jobs.cancel(job.job.id, grace_s=0)


def buttons(choice: Choice, job: JobStatus | None, busy: str) -> None:
    """Run and Stop; one run at a time, and none on an engine that somebody holds."""
    active = live.is_active(job)
    st.button(
        "Run", key="run", type="primary", icon=":material/play_arrow:", disabled=active or bool(busy),
        on_click=start, args=(choice,),
    )  # fmt: skip
    st.button("Stop", key="stop", icon=":material/stop:", disabled=not active, on_click=stop, args=(job,))
    if busy and not active:
        st.caption(f"Run waits: {literal(busy)}.")


@st.fragment(run_every="1s")
def starting() -> None:
    """A job that has no run yet: its process starts, or could not."""
    if not live.is_starting(loaders.newest_job()):
        st.rerun()
    widgets.progress(None)


def runs(job: JobStatus | None, arm: Arm) -> None:
    """The job that starts, the run that goes on, or a run that has ended."""
    if live.is_starting(job):
        starting()
        return
    run_id = pick_run(NO_RUN)
    if live.failed_early(job, run_id):
        widgets.failed_job(job)
    if run_id is None:
        return
    if job and job.run and live.is_active(job) and job.run.id != loaders.opened(run_id).id:
        st.button("Show the run that goes on", key="show_active", on_click=show_newest)
    live_view.show(run_id, arm, flip)


def first_arm(job: JobStatus | None) -> Arm:
    """What the toggles begin with: the arm of the run that goes on, else prefix caching."""
    if not live.can_steer(job) or job is None or job.run is None:
        return FIRST
    said = live_loaders.wish_of(job.run.id)
    return arm_named(said.arm) if said else FIRST


def controls(job: JobStatus | None, recordings: list[str]) -> Choice:
    """Toggles and buttons in one row, the arms' states below, what is run folded away."""
    inputs.set_toggles(first_arm(job))
    with st.container(border=True):
        row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
        with row:
            arm = inputs.choose_arm(steer)
        states = st.container()
        choice = inputs.folded_choice(arm, recordings)
        refused = loaders.refused(choice.profile, choice.arms)
        busy = busy_words(live_loaders.states(choice, refused, job))
        with row:
            buttons(choice, job, busy)
        with states:
            engines(choice, refused, job, busy)
        if words := st.session_state.get("refusal"):
            st.error(literal(words))
    return choice


def page() -> None:
    """Inputs above, what they lead to below."""
    job, recordings = loaders.newest_job(), loaders.recordings()
    if not recordings:
        st.warning(NO_RECORDING, icon=":material/movie:")
        return
    choice = controls(job, recordings)
    runs(job, choice.arm)


page()
