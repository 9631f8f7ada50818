"""Which run a page is about: one picker for all pages, whose choice stands in the page's address as `run_id`.

Streamlit's own binding would write the label, which changes, and nothing for the newest run, which changes, too. So the
address is written here: always, and with the run's name, which never changes.
"""

from __future__ import annotations

import streamlit as st
from labkit.experiments.dashboard.literal import literal
from labkit.experiments.dashboard.picker import BETWEEN, Choices

import loaders

NO_RUN = "No run yet. Make one on the **Live** page, or in a terminal: `labkit run quick`."
KEY = "run_id"
WRITTEN, PICKED = "run_id_written", "run_id_picked"
"""What this page wrote into the address; what somebody picked, kept from page to page."""


def pick_run(no_run: str = NO_RUN) -> str | None:
    """Name of the run to show, the newest unless another is picked; None, and what to do next (`no_run`), when there is
    none.
    """
    choices = loaders.choices(_wanted())
    if choices.problem:
        st.warning(literal(choices.problem), icon=":material/search_off:")
    if choices.picked is None:
        return _nothing(choices, no_run)
    return _picked(choices, choices.picked)


def shown_run() -> str | None:
    """Name of the run that `pick_run` will show."""
    return loaders.choices(_wanted()).picked


def _picked(choices: Choices, first: str) -> str:
    if st.session_state.get(KEY) != first:
        st.session_state[KEY] = first
    picked: str = st.selectbox(
        "Run", list(choices.labels), key=KEY, format_func=choices.labels.get, help=choices.help, on_change=_remember
    )
    if choices.example:
        st.caption(f":material/science: {literal(choices.example)}")
    if choices.going:
        st.caption(":material/sync: This run goes on.")
    if st.query_params.get(KEY) != picked:
        st.query_params[KEY] = picked
    st.session_state[WRITTEN] = picked
    return picked


def _nothing(choices: Choices, no_run: str) -> None:
    """No run: what to do, and the example for who wants to look first."""
    if not choices.problem:
        st.info(no_run, icon=":material/lightbulb:")
    with st.container(horizontal=True, vertical_alignment="center"):
        if choices.examples:
            st.button("Show an example run", key="show_example", on_click=_show, args=(choices.examples[0],))
        if no_run == NO_RUN:
            st.page_link("app_pages/live.py", label="Make one on the Live page", icon=":material/toggle_on:")


def show_newest() -> None:
    """Forget what was picked: the newest run is shown when the page is drawn next. For callbacks."""
    for kept in (KEY, PICKED, WRITTEN):
        st.session_state.pop(kept, None)
    st.query_params.pop(KEY, None)


def _show(name: str) -> None:
    st.session_state[PICKED] = name
    st.query_params[KEY] = name


def _remember() -> None:
    st.session_state[PICKED] = _name(st.session_state[KEY])


def _wanted() -> str | None:
    """A run that the address names anew, else what is picked on this page, else what was picked on another."""
    address = st.query_params.get(KEY)
    if address is None:
        return st.session_state.get(PICKED)
    if address == st.session_state.get(WRITTEN):
        return _name(st.session_state.get(KEY, address))
    st.session_state[PICKED] = address
    return address


def _name(value: str) -> str:
    """A name as it is; of a label that has changed since it was drawn, the end that opens the run."""
    return value.rsplit(BETWEEN, 1)[-1]
