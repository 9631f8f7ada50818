"""Plans: the exact commands of an arm, to copy, and what differs from another arm. Nothing is started."""

from __future__ import annotations

import streamlit as st
from labkit.experiments.dashboard.engines.plans import PlanView
from labkit.experiments.dashboard.engines.words import diff_text, port_table, size
from labkit.experiments.dashboard.literal import literal

import loaders
import loaders.engines as data

ARMS = ["base", "prefix", "pd", "spec", "prefix+pd", "prefix+spec", "pd+spec", "all"]
SALTED_HELP = (
    "As runs do unless they are strict: engines cache prefixes, and a fresh cache_salt on every request switches "
    "that off for the arms without it, so that two arms share an engine. Off: the server's own flag."
)


def plans() -> None:
    """Choose a profile, an arm and a drafter; see what they mean."""
    profile, arm, other, method, salted = chosen()
    made = data.plan(profile, arm, method, salted=salted)
    many = f"{len(made.processes)} process{'es' * (len(made.processes) != 1)}"
    st.caption(
        f"{made.title}. {many}, {size(made.memory)} of memory; starts in ~{made.expected_s:.0f} s; key `{made.key}`."
    )
    difference(profile, arm, other, method, salted)
    commands(made)


def chosen() -> tuple[str, str, str, str | None, bool]:
    """Profile, arm, the arm to compare with, drafter, and how prefix caching is switched."""
    one, two, three, four = st.columns(4)
    profile = one.selectbox(
        "Profile",
        loaders.profiles(),
        key="profile",
        bind="query-params",
        help="The hardware need not be here: nothing is started.",
    )
    arm = two.selectbox("Arm", ARMS, index=1, key="arm", bind="query-params", help="Which layers are on.")
    other = three.selectbox("Differs from", ARMS, key="against", bind="query-params", help="Another arm.")
    about = data.methods(profile)
    method = four.selectbox(
        "Drafter", list(about), key="method", help="\n".join(f"- {n}: {a}" for n, a in about.items())
    )
    salted = st.toggle("Prefix caching by salt", key="salted", bind="query-params", help=SALTED_HELP)
    return profile, arm, other, method, salted


def commands(made: PlanView) -> None:
    """Each process: ports, and its command with its environment."""
    st.subheader("What would be started", anchor=False)
    st.markdown(port_table(made))
    st.caption(made.note)
    for process in made.processes:
        st.markdown(f"**{process.role}** on port {process.port}")
        st.code(process.command, language="bash", wrap_lines=True)
    st.caption("The same from a terminal:")
    st.code(made.command, language="bash", wrap_lines=True)


def difference(profile: str, arm: str, other: str, method: str | None, salted: bool) -> None:
    """What differs between the two arms."""
    st.subheader(f"{other} and {arm}: what differs?", anchor=False)
    found = data.difference(profile, arm, other, method, salted=salted)
    show, icon = (st.success, ":material/check_circle:") if found.fair else (st.error, ":material/error:")
    show(literal(found.words), icon=icon)
    if found.rows:
        st.code(diff_text(found), language="diff", wrap_lines=True)
    st.caption("The same from a terminal:")
    st.code(found.command, language="bash", wrap_lines=True)
