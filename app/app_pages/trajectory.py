"""An agent's steps as a conversation: which tokens were cached, computed, generated or guessed, and what tools did."""

import dataclasses

import streamlit as st
from labkit.core.errors import LabError
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.dashboard.trajectory.beside import Beside, beside_of
from labkit.experiments.dashboard.trajectory.messages import ESTIMATES
from labkit.experiments.dashboard.trajectory.records import Trajectory, Turn
from labkit.experiments.dashboard.trajectory.strip import page_of, strip
from labkit.experiments.dashboard.trajectory.which import FIELDS, Which, address, beside, choices
from labkit.experiments.dashboard.trajectory.words import nothing, step_title, summary
from labkit.plots.token_strip import token_strip_figure

import loaders
import loaders.trajectory as load
import widgets
from widgets import conversation
from widgets.following import follow
from widgets.runs import pick_run

LABELS = {
    "arm": ("Arm", "The layers that were on. Where a toggle was flipped on the way, the arm that was planned."),
    "recording": ("Recording", "The requests that were replayed."),
    "task": ("Task", "What the agent was to do."),
    "agent": ("Agent", "One of those that worked at once; 2.1 is the second recording of agent 2."),
    "repeat": ("Repeat", "Which pass over the recording, or which attempt at the task; from 0."),
    "cache": ("Cache", "Cold: nothing could be found from before. Warm: the same pass was made just before."),
    "condition": ("Condition", "What was varied besides the arm."),
}


def untoggle() -> None:
    """An address that names a step by the arm that served it leads to the trajectory that it is a part of."""
    here = st.query_params.to_dict()
    if (there := address(here)) != here:
        st.session_state["arm"] = there["arm"]  # else what was picked here before would win over the address
        st.switch_page("app_pages/trajectory.py", query_params=there)


def pick(known: tuple[Which, ...]) -> Which:
    """One input for each thing that there is more than one of."""
    chosen: dict[str, str] = {}
    with st.container(horizontal=True):
        for name in FIELDS:
            options = choices(known, chosen, name)
            chosen[name] = options[0] if len(options) == 1 else choose(name, options)
    return Which(**chosen)


def choose(name: str, options: list[str]) -> str:
    """Which of several; the choice stands in the page's address."""
    label, words = LABELS[name]
    return st.selectbox(
        label, options, key=name, help=words, bind="query-params", width=220, format_func=lambda value: value or "none"
    )


def go(turn: int) -> None:
    """To another step."""
    st.session_state["turn"] = turn


def pick_turn(shown: Trajectory) -> int:
    """The step that is looked at, and the ways to its neighbours."""
    numbers = [turn.turn for turn in shown.turns]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        now = st.selectbox("Step", numbers, key="turn", bind="query-params", width=120, help="It is unfolded below.")
        place = numbers.index(now)
        neighbour("Previous", "arrow_back", numbers[place - 1] if place else None)
        neighbour("Next", "arrow_forward", numbers[place + 1] if place + 1 < len(numbers) else None)
    return now


def neighbour(name: str, icon: str, turn: int | None) -> None:
    """A button to the step before or after; there may be none."""
    st.button(name, key=name.lower(), icon=f":material/{icon}:", disabled=turn is None, on_click=go, args=(turn,))


def steps(shown: Trajectory, marked: int, run_id: str, known: tuple[Which, ...]) -> None:
    """The steps around the marked one, which is unfolded."""
    several = len({turn.arm for turn in shown.turns}) > 1
    turns = page_of(shown.turns, marked)
    if len(turns) < len(shown.turns):
        st.caption(f"Steps {turns[0].turn} to {turns[-1].turn} of {len(shown.turns)}; pick a step above for others.")
    for turn in turns:
        if turn.turn == marked:
            unfolded(shown, turn, several, run_id, known)
            continue
        folded = st.expander(step_title(turn, arm=several), key=f"step-{turn.turn}", on_change="rerun")
        if folded.open:
            with folded:
                conversation.step(shown, turn)


def unfolded(shown: Trajectory, turn: Turn, several: bool, run_id: str, known: tuple[Which, ...]) -> None:
    """The marked step, and the same step under another arm."""
    with st.container(border=True):
        st.markdown(f"**:material/arrow_right: {step_title(turn, arm=several)}**")
        conversation.step(shown, turn)
        others = beside(known, shown.which)
        if others:
            arm = st.selectbox(
                "Beside it", others, key="beside", bind="query-params", width=220, help="The same step under this arm."
            )
            other = load.shown(run_id, dataclasses.replace(shown.which, arm=arm))
            show_beside(beside_of(shown, other, turn.turn), shown.which.arm)


def show_beside(found: Beside | None, arm: str) -> None:
    """Times in a sentence; texts only where they differ."""
    if found is None:
        st.caption("That arm has no step of this turn.")
        return
    st.markdown(found.words)
    if found.here is None or found.there is None:
        return
    st.caption(f"Both begin with the same {found.parts_at:,} characters.")
    for column, name, text in zip(st.columns(2), (arm, found.arm), (found.here, found.there), strict=True):
        column.caption(name)
        column.code(text, language=None, wrap_lines=True)


def page() -> None:
    """The run, the trajectory, the strip of all its steps, the conversation."""
    untoggle()
    run_id = pick_run()
    if run_id is None:
        return
    try:
        show(run_id)
        follow(run_id)
    except LabError as error:
        st.error(f"This run cannot be read: {literal(str(error))}", icon=":material/error:")


def show(run_id: str) -> None:
    """One trajectory of a run."""
    known = load.listing(run_id)
    if not known:
        st.info(nothing(loaders.opened(run_id).info), icon=":material/hourglass_empty:")
        return
    shown = load.shown(run_id, pick(known))
    st.markdown(summary(shown))
    if shown.note:
        st.info(shown.note, icon=":material/info:")
    marked = pick_turn(shown)
    widgets.figure(strip(shown, marked), token_strip_figure, "strip")
    if any(turn.prompt_tokens is not None for turn in shown.turns):
        st.caption(ESTIMATES)
    steps(shown, marked, run_id, known)


page()
