"""The fleet: a card for each engine, starting and ending, and the memory that is left."""

from __future__ import annotations

import streamlit as st
from labkit.experiments import ending
from labkit.experiments.dashboard.engines.cards import EngineCard, FleetView
from labkit.experiments.dashboard.engines.words import age, process_table, summary
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.warm import warm as start_engine
from labkit.plots.engine_memory import engine_memory_figure

import loaders
import loaders.engines as data
import widgets

LOOKS = {
    "up": (":material/check_circle:", "green"),
    "held": (":material/lock:", "orange"),
    "starting": (":material/hourglass_top:", "blue"),
    "ending": (":material/hourglass_bottom:", "blue"),
    "left": (":material/link_off:", "orange"),
    "orphaned": (":material/link_off:", "orange"),
    "dead": (":material/heart_broken:", "red"),
}
EMPTY = (
    "No engine is up. Start one below, so that a toggle on **Live** takes effect at once; a run starts what it needs "
    "by itself."
)
ARMS = ["base", "prefix", "pd", "spec", "prefix+pd", "prefix+spec", "pd+spec", "all"]


def fleet() -> None:
    """Everything that is up, what to start, and the memory."""
    cards()
    left, right = st.columns([2, 3], gap="large")
    with left:
        starting()
    with right:
        memory()


@st.fragment(run_every="2s")
def cards() -> None:
    """The engines, looked up anew."""
    view = data.fleet()
    refusals(view)
    for pending in view.pending:
        with st.container(border=True):
            st.markdown(f"**{pending.arm}** :blue[:material/hourglass_top: {literal(pending.words)}]")
    if not view.cards and not view.pending:
        st.info(EMPTY, icon=":material/lightbulb:")
    if view.cards:
        headline(view)
    for card in view.cards:
        with st.container(border=True):
            engine(card)


def headline(view: FleetView) -> None:
    """How many there are, and ending those that nobody holds; what a crash left behind first."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{summary(view)}**")
        st.space("stretch")
        if view.remains:
            confirm("End what a crash left behind", "remains", [card.id for card in view.remains])
        confirm("End all that nobody holds", "all", [card.id for card in view.endable])


def confirm(label: str, key: str, ids: list[str], kept: str = "") -> None:
    """A button that asks once more; the ending goes on by itself."""
    with st.popover(label, disabled=not ids, help=kept or None, key=f"ask_{key}"):
        names = ", ".join(f"`{engine_id}`" for engine_id in ids)
        st.markdown(f"End {names}? Whoever sends it a request gets none answered.")
        st.button("Yes, end it" if len(ids) == 1 else "Yes, end them", key=f"end_{key}", on_click=end, args=(ids,))


def end(ids: list[str]) -> None:
    """Begin to end these; an engine that a run holds by then stays."""
    for engine_id in ids:
        ending.end(engine_id)


def engine(card: EngineCard) -> None:
    """One engine: what it is, what it takes, who uses it."""
    icon, color = LOOKS[card.state]
    st.markdown(f"**{card.arm}** :{color}[{icon} {literal(card.words)}]")
    st.caption(
        f"`{card.id}` · profile {card.profile} · {since(card)}{f' · {literal(card.serves)}' if card.serves else ''}"
    )
    if card.share is not None:
        st.progress(card.share)
    left, right = st.columns([3, 2])
    with left:
        st.markdown(process_table(card))
    with right:
        st.code(card.address, language=None)
        st.caption(f"Its address for any OpenAI client; the model is `{card.model}`.")
    if card.trouble:
        st.error(literal(card.trouble), icon=":material/error:")
    actions(card)


def since(card: EngineCard) -> str:
    """Since when, and how long that is."""
    return f"since {card.since[11:19]} UTC ({age(card.age_s)})"


def actions(card: EngineCard) -> None:
    """What can be done with one engine."""
    with st.container(horizontal=True, vertical_alignment="center"):
        busy = card.kept or card.state == "ending"
        confirm("End", card.id, [] if busy else [card.id], card.kept)
        if st.button("Logs", key=f"logs_{card.id}", on_click=show_logs, args=(card.id,)):
            st.rerun()
        if card.holder_run:
            st.page_link(
                "app_pages/live.py",
                label="The run that holds it",
                icon=":material/arrow_forward:",
                query_params={"run_id": card.holder_run},
            )


def show_logs(engine_id: str) -> None:
    """Go to the logs of this engine."""
    st.session_state["view"], st.session_state["engine"] = "Logs", engine_id


def refusals(view: FleetView) -> None:
    """Starts that failed, in the engine's words, with what the start printed."""
    for refused in view.refused:
        st.error(f"**{refused.arm}** did not start ({refused.ago}): {literal(refused.words)}", icon=":material/block:")
        with st.expander(f"What the start of {refused.arm} printed"):
            st.code("\n".join(data.refused_log(refused.profile, refused.arm).lines), language="log", height=240)


@st.fragment(run_every="2s")
def starting() -> None:
    """Start the engine of an arm; the start is a process of its own, and the fleet above follows it."""
    st.subheader("Start an engine", anchor=False)
    profile = st.selectbox("Profile", loaders.profiles(), key="start_profile", help="Machine, model, engine choices.")
    arm = st.selectbox("Arm", ARMS, index=1, key="start_arm", help="Which of the three layers are on.")
    state, short = data.state(profile, arm), data.room(profile, arm)
    widgets.arm_state(state)
    can_start = state.kind in ("cold", "refused") and not short
    st.button("Start", key="start", type="primary", disabled=not can_start, on_click=start_engine, args=(profile, arm))
    if short and state.kind in ("cold", "refused"):
        st.caption(f"{short} End an engine first.")
    st.caption("The same from a terminal:")
    st.code(f"labkit up --profile {profile} --arm {arm} --salted", language="bash", wrap_lines=True)


@st.fragment(run_every="5s")
def memory() -> None:
    """What is taken, and what would fit."""
    profile = st.session_state.get("start_profile") or loaders.profiles()[0]
    widgets.figure(data.memory(profile, data.fleet()), engine_memory_figure, "engine_memory")
