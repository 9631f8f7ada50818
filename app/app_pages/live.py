"""Toggle a layer, replay the same requests under that arm and under base, and see what it was worth."""

import streamlit as st
from labkit.core.errors import LabError
from labkit.experiments import jobs, live, warm
from labkit.experiments.arm_state import ArmState, busy_words
from labkit.experiments.jobs import JobStatus
from labkit.experiments.live import Choice
from labkit.experiments.view import RunView
from labkit.plots.acceptance import acceptance_by_kind_figure, acceptance_by_kind_info
from labkit.plots.arms_overview import arms_overview_figure, arms_overview_info
from labkit.plots.per_turn import per_turn_figure, per_turn_info
from labkit.plots.tokens_per_turn import tokens_per_turn_figure, tokens_per_turn_info
from labkit.plots.wall_ledger import wall_ledger_figure, wall_ledger_info

import loaders
import widgets

NO_RECORDING = "No recording is there to replay. Make one: `labkit record --help`."
NO_RUN = (
    "No run yet. Switch on the layers that you are curious about and press **Run**: the same recorded requests go to "
    "that arm and to base, one after the other, and the figures appear here while they are measured."
)


def start(choice: Choice) -> None:
    """Start the job; what is wrong with the question is kept, to be shown by the button."""
    st.session_state["refusal"] = ""
    st.session_state.pop("shown", None)
    try:
        live.start(choice)
    except LabError as error:
        st.session_state["refusal"] = str(error)


def stop(job: JobStatus) -> None:
    """Ask the job to end in good order; it says itself when it has."""
    jobs.cancel(job.job.id, grace_s=0)


@st.fragment(run_every="2s")
def engines(choice: Choice, refused: dict[str, str], active: bool, busy: str) -> None:
    """The truth about the engines of the chosen arms, looked up anew; start one ahead of a run, or end them all.

    `busy`: what the page's Run button was drawn with; when it is no longer so, the page is drawn anew.
    """
    states = loaders.states(choice.profile, choice.arms, refused)
    if not active and busy_words(states) != busy:
        st.rerun()
    for state in states:
        widgets.arm_state(state)
    with st.container(horizontal=True):
        start_engine(choice, states[-1], active)
        end_engines(active)


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


def buttons(choice: Choice, job: JobStatus | None, busy: str) -> None:
    """Run and Stop; one run at a time, and none on an engine that somebody holds."""
    active = live.is_active(job)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Run", key="run", type="primary", disabled=active or bool(busy), on_click=start, args=(choice,))
        st.button("Stop", key="stop", disabled=not active, on_click=stop, args=(job,))
        if busy and not active:
            st.caption(f"Run waits: {busy}.")
    if words := st.session_state.get("refusal"):
        st.error(words)
    st.caption(f"The same from a terminal: `{choice.command()}`")


@st.fragment(run_every="1s")
def starting() -> None:
    """A job that has no run yet: its process starts, or could not."""
    if not live.is_starting(loaders.newest_job()):
        st.rerun()
    widgets.progress(None)


@st.fragment(run_every="1s")
def follow(run_id: str) -> None:
    """A run that goes on; the page is drawn anew when it has ended."""
    shown = loaders.run_view(run_id)
    if not shown.live:
        st.rerun()
    widgets.progress(shown.progress)
    results(shown)


def results(shown: RunView) -> None:
    """What a run has measured so far."""
    steps, drafts = shown.steps, acceptance_by_kind_info(shown.steps)
    left, right = st.columns(2)
    with left:
        widgets.figure(arms_overview_info(shown.table(), shown.arms), arms_overview_figure, "overview")
        widgets.figure(per_turn_info(steps, "ttft"), per_turn_figure, "ttft")
        widgets.figure(tokens_per_turn_info(steps, shown.arms[-1]), tokens_per_turn_figure, "tokens")
    with right:
        widgets.figure(wall_ledger_info(steps), wall_ledger_figure, "ledger")
        widgets.figure(per_turn_info(steps, "e2e"), per_turn_figure, "e2e")
        if drafts.rates:
            widgets.figure(drafts, acceptance_by_kind_figure, "acceptance")
    widgets.arm_table(shown)


def picked_run() -> str | None:
    """The run to show: the newest unless another is picked; None while there is none."""
    labels = loaders.run_labels()
    if not labels:
        st.info(NO_RUN, icon=":material/lightbulb:")
        return None
    return st.selectbox("Run", list(labels), key="shown", format_func=labels.__getitem__, help="Newest first.")


def runs(job: JobStatus | None) -> None:
    """The job that starts, the run that goes on, or a run that has ended."""
    if live.is_starting(job):
        starting()
        return
    run_id = picked_run()
    if live.failed_early(job, run_id):
        widgets.failed_job(job)
    if run_id is not None:
        show(loaders.run_view(run_id))


def show(run: RunView) -> None:
    """One run, followed while it goes on."""
    if run.live:
        follow(run.info.id)
    else:
        widgets.run_state(run)
        results(run)


def page() -> None:
    """Inputs above, what they lead to below."""
    job, recordings = loaders.newest_job(), loaders.recordings()
    if not recordings:
        st.warning(NO_RECORDING, icon=":material/movie:")
        return
    with st.container(border=True):
        choice = widgets.choose(recordings)
        refused = loaders.refused(choice.profile, choice.arms)
        busy = busy_words(loaders.states(choice.profile, choice.arms, refused))
        engines(choice, refused, live.is_active(job), busy)
        buttons(choice, job, busy)
    runs(job)


page()
