"""Toggle a layer, send the same requests under that arm and under base, and see at once what it was worth."""

import streamlit as st
from labkit.core.arms import Arm
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
from widgets import live_toggles
from widgets.frame import refusals_said
from widgets.live_engines import Drawn, engines, going_on
from widgets.runs import pick_run, show_newest

NO_RECORDING = "No recording is there to replay. Make one: `labkit record --help`."
NO_RUN = (
    "No run yet. Press **Run**: a few steps of a real agent go to base and then to the arm that is toggled above, and "
    "what the layer was worth stands here in words, while it is measured and afterwards."
)
BUSY = "A run goes on already, and one at a time is enough for one machine. Wait for it, or stop it."


def start(choice: Choice) -> None:
    """Start the job; what is wrong with the question is kept, to be shown by the button."""
    begin(lambda: live.start(choice))


def flip(run_id: str, arm: Arm) -> None:
    """Ask the run's own question again, under this arm alone."""
    begin(lambda: live.flip_and_repeat(run_id, arm))


def begin(job) -> None:
    """Begin a job whose run is then the one that is shown, unless one goes on that this tab had not seen yet."""
    st.session_state["refusal"] = BUSY if live_loaders.is_busy() else ""
    if not st.session_state["refusal"] and attempt(job):
        show_newest()


def attempt(work, *args) -> bool:
    """Do it, and say whether it could be done; what is refused is kept, to be shown by the button."""
    st.session_state["refusal"] = ""
    try:
        work(*args)
    except LabError as error:
        st.session_state["refusal"] = str(error)
    return not st.session_state["refusal"]


def buttons(choice: Choice, job: JobStatus | None, busy: str) -> None:
    """Run and Stop; one run at a time, and none on an engine that somebody holds."""
    active = live.is_active(job)
    cannot = active or bool(busy) or not inputs.is_something(choice)
    st.button(
        "Run", key="run", type="primary", icon=":material/play_arrow:", disabled=cannot, on_click=start, args=(choice,)
    )
    stop = (job.job.id, 0) if active and job else ()
    st.button(
        "Stop", key="stop", icon=":material/stop:", disabled=not active, on_click=attempt, args=(jobs.cancel, *stop),
        help="It ends in good order and keeps what it has measured.",
    )  # fmt: skip
    if busy:
        st.caption(f"Run waits: {literal(busy)}.")


@st.fragment(run_every="1s")
@refusals_said
def starting() -> None:
    """A job that has no run yet: its process starts, or could not."""
    if not live.is_starting(loaders.current_job()):
        st.rerun()
    widgets.progress(None)


def runs(job: JobStatus | None, arm: Arm) -> None:
    """The job that starts, the run that goes on, or a run that has ended."""
    if live.is_starting(job):
        starting()
        return
    if live.failed_early(job, loaders.newest_run()):
        widgets.failed_job(job)
    run_id = pick_run(NO_RUN)
    if run_id is None:
        return
    if job and job.run and live.is_active(job) and job.run.id != loaders.opened(run_id).id:
        st.button("Show the run that goes on", key="show_active", on_click=show_newest)
    live_view.show(run_id, arm, flip)


def controls(job: JobStatus | None, recordings: list[str]) -> Choice:
    """Toggles and buttons in one row, the arms' states below, what is run folded away."""
    live_toggles.follow(live_loaders.wanted(job))
    with st.container(border=True):
        row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
        with row:
            arm = live_toggles.choose_arm(lambda layer: attempt(live_toggles.steer, layer))
        states = st.container()
        choice = inputs.folded_choice(arm, recordings)
        refused = loaders.refused(choice.profile, choice.arms)
        busy = "" if live.is_active(job) else busy_words(live_loaders.states(choice, refused, job))
        with row:
            buttons(choice, job, busy)
        with states:
            engines(choice, Drawn(refused=refused, going_on=going_on(job), busy=busy))
        if words := st.session_state.get("refusal"):
            st.error(literal(words))
    return choice


def page() -> None:
    """Inputs above, what they lead to below."""
    job, recordings = loaders.current_job(), loaders.recordings()
    if not recordings:
        st.warning(NO_RECORDING, icon=":material/movie:")
        return
    choice = controls(job, recordings)
    runs(job, choice.arm)


page()
