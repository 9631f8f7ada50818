"""Inputs of the Live page: what is run; their values last as long as the tab."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from labkit.core.arms import BASE, Arm
from labkit.experiments.arm_state import ArmState
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.live import Choice

import loaders
import loaders.live as live_loaders
import widgets

REPLAY, WORK = "Replay a recording", "Live agents at a task"
NO_TASK = "No task is there for live agents (`labkit tasks` lists them). A recording can be replayed."
LAPS = {1: "once", 2: "2 laps", 3: "3 laps", 5: "5 laps", 0: "again and again until stopped"}
FEW_STEPS, MOST_AGENTS = 6, 32
STEPS = "steps_wanted"
"""How many steps somebody asked for: no widget's key, so that it outlives a recording that has fewer."""
SPAN = "steps_span"
"""The ends of the slider that is drawn."""
_KEEP = {"persist_state": "session"}


def arm_states(states: Sequence[ArmState]) -> None:
    """Each arm and what is known of its engine, in one line."""
    for state in states:
        icon, color = widgets.LOOKS[state.kind]
        st.markdown(f"**{state.arm}** :{color}[{icon} {literal(state.words)}]", width="content")


def folded_choice(arm: Arm, recordings: list[str]) -> Choice:
    """What is run, folded away, with its command line."""
    with st.expander("What is run", icon=":material/tune:"):
        choice = choose(arm, recordings)
        if is_something(choice):
            st.caption("The same from a terminal:")
            st.code(choice.command(), language="bash", wrap_lines=True)
    return choice


def is_something(choice: Choice) -> bool:
    """Whether there is anything to run: a recording or a task."""
    return bool(choice.recording or choice.task)


def choose(arm: Arm, recordings: list[str]) -> Choice:
    """What is run under the arm, and beside it."""
    left, right = st.columns(2)
    with left:
        profile = st.selectbox(
            "Profile", loaders.profiles(), key="run_profile", help="Machine, model and engine choices.", **_KEEP
        )
        recording, task = choose_work(recordings)
    with right:
        steps = choose_steps(recording)
        agents, laps = choose_load()
    compare = choose_compare(arm)
    return Choice(
        profile=profile, arm=arm, compare=compare, recording=recording, task=task, agents=agents, steps=steps, laps=laps
    )


def in_words(choice: Choice) -> str:
    """What Run would do: `6 steps of ranks-that-jump-live by 1 agent on cpu-smollm2: base first, then prefix.`"""
    if not is_something(choice):
        return "**Run**: nothing yet; choose a task or a recording."
    steps = "1 step" if choice.steps == 1 else f"{choice.steps} steps"
    work = f"{steps} of {choice.recording}" if choice.recording else f"{choice.task}, up to {steps}"
    agents = "1 agent" if choice.agents == 1 else f"{choice.agents} agents at once"
    laps = "" if choice.laps == 1 else f", {LAPS[choice.laps]}"
    order = " first, then ".join(choice.arms)
    return f"**Run**: {literal(work)} by {agents} on {literal(choice.profile)}: {order}{laps}."


def choose_work(recordings: list[str]) -> tuple[str | None, str | None]:
    """A recording or a task; neither, and what to do, where there is no task."""
    kind = st.segmented_control(
        "Work", [REPLAY, WORK], default=REPLAY, required=True, key="work", persist_state="session",
        help="A replay sends the very same requests under every arm. Live agents decide anew, so arms differ more.",
    )  # fmt: skip
    if kind == REPLAY:
        return st.selectbox(
            "Recording", recordings, key="work_recording", help="The requests that every arm replays.", **_KEEP
        ), None
    if not live_loaders.tasks():
        st.info(NO_TASK, icon=":material/lightbulb:")
        return None, None
    return None, st.selectbox("Task", live_loaders.tasks(), key="work_task", **_KEEP)


def choose_steps(recording: str | None) -> int:
    """Of each agent, in each lap. A slider of another length is another widget, which would begin at its least.

    It is set only when it is another one: setting it on each run of the page would undo what a hand moves meanwhile.
    """
    least, most = 1 if recording else 2, max(loaders.turns_of(recording) if recording else 30, 2)
    if "steps" not in st.session_state or st.session_state.get(SPAN) != (least, most):
        st.session_state["steps"] = min(max(st.session_state.get(STEPS, FEW_STEPS), least), most)
    st.session_state[SPAN] = (least, most)
    return st.slider("Steps", least, most, key="steps", help="The first steps of the work.", on_change=keep_steps)


def keep_steps() -> None:
    """The slider was moved."""
    st.session_state[STEPS] = st.session_state["steps"]


def choose_load() -> tuple[int, int]:
    """How many agents at once, and how often."""
    left, right = st.columns(2)
    agents = left.number_input("Agents at once", 1, MOST_AGENTS, key="agents", help="Each does the work.", **_KEEP)
    laps = right.selectbox(
        "Laps", list(LAPS), format_func=LAPS.__getitem__, key="laps", help="How often each arm does the work.", **_KEEP
    )
    return int(agents), laps


def choose_compare(arm: Arm) -> bool:
    """Whether base is measured, too; there is nothing to choose when base is the arm."""
    words, why = "Measure base first", "A ratio needs base on the same steps."
    if arm == BASE:
        return st.checkbox(words, value=False, disabled=True, key="compare_base", help="The arm is base already.")
    return st.checkbox(words, value=True, key="compare", help=why, **_KEEP)
