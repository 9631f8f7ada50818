"""Inputs of the Live page: three toggles and what is run; their values last as long as the tab."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from labkit.core.arms import BASE, LAYERS, Arm
from labkit.experiments.arm_state import ArmState
from labkit.experiments.live import Choice

import loaders
import loaders.live as live_loaders
import widgets

TOGGLES = {
    "prefix_caching": ("Prefix caching", "Reuse the KV blocks of a prompt's beginning that was seen before."),
    "pd_split": ("Prefill/decode split", "Prefill and decode in processes of their own, so that neither waits."),
    "speculation": ("Speculation", "Draft several tokens cheaply, and let the model verify them together."),
}
REPLAY, WORK = "Replay a recording", "Live agents at a task"
LAPS = {1: "once", 2: "2 laps", 3: "3 laps", 5: "5 laps", 0: "again and again until stopped"}
FEW_STEPS, MOST_AGENTS = 6, 32
_KEEP = {"persist_state": "session"}


def chosen_arm() -> Arm:
    """The arm that the toggles mean now."""
    return Arm(**{layer: bool(st.session_state.get(layer)) for layer in LAYERS})


def set_toggles(arm: Arm) -> None:
    """Once a session, before the toggles are drawn: what they begin with."""
    for layer in LAYERS:
        st.session_state.setdefault(layer, getattr(arm, layer))


def arm_states(states: Sequence[ArmState]) -> None:
    """Each arm and what is known of its engine, in one line."""
    for state in states:
        icon, color = widgets.LOOKS[state.kind]
        st.markdown(f"**{state.arm}** :{color}[{icon} {state.words}]", width="content")


def how(states: Sequence[ArmState]) -> list[str]:
    """How prefix caching is switched, where that needs saying: `base: no caching by a fresh cache_salt ...`."""
    return [f"{state.arm}: {state.how}." for state in states if state.how]


def choose_arm(on_flip: Callable[[], None]) -> Arm:
    """The three layers. `on_flip`: called when one of them is flipped, before the page is drawn anew."""
    for layer in LAYERS:
        label, help_ = TOGGLES[layer]
        st.toggle(label, key=layer, help=help_, on_change=on_flip, persist_state="session")
    return chosen_arm()


def folded_choice(arm: Arm, recordings: list[str]) -> Choice:
    """What is run, folded away, with its command line."""
    with st.expander("What is run", icon=":material/tune:"):
        choice = choose(arm, recordings)
        st.caption("The same from a terminal:")
        st.code(choice.command(), language="bash", wrap_lines=True)
    return choice


def choose(arm: Arm, recordings: list[str]) -> Choice:
    """What is run under the arm, and beside it."""
    left, right = st.columns(2)
    with left:
        profile = st.selectbox(
            "Profile", loaders.profiles(), key="profile", help="Machine, model and engine choices.", **_KEEP
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
    work = f"{choice.steps} steps of {choice.recording}" if choice.recording else f"{choice.task}, up to {choice.steps}"
    agents = "1 agent" if choice.agents == 1 else f"{choice.agents} agents at once"
    laps = "" if choice.laps == 1 else f", {LAPS[choice.laps]}"
    order = " first, then ".join(choice.arms)
    return f"**Run**: {work}{'' if choice.recording else ' steps'} by {agents} on {choice.profile}: {order}{laps}."


def choose_work(recordings: list[str]) -> tuple[str | None, str | None]:
    """A recording or a task."""
    kind = st.segmented_control(
        "Work", [REPLAY, WORK], default=REPLAY, required=True, key="work", persist_state="session",
        help="A replay sends the very same requests under every arm. Live agents decide anew, so arms differ more.",
    )  # fmt: skip
    if kind == WORK:
        return None, st.selectbox("Task", live_loaders.tasks(), key="work_task", persist_state="session")
    return st.selectbox(
        "Recording", recordings, key="work_recording", help="The requests that every arm replays.", **_KEEP
    ), None


def choose_steps(recording: str | None) -> int:
    """Of each agent, in each lap."""
    most = max(loaders.turns_of(recording) if recording else 30, 2)
    if st.session_state.get("steps", 0) > most:
        st.session_state["steps"] = most
    value = {} if "steps" in st.session_state else {"value": min(FEW_STEPS, most)}
    return st.slider("Steps", 1 if recording else 2, most, key="steps", help="The first steps of the work.", **value)


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
    return st.checkbox(words, value=True, key="compare", help=why)
