"""Which run a page is about: one picker for all pages, whose choice stands in the page's address as `run_id`."""

from __future__ import annotations

import streamlit as st

import loaders

NO_RUN = "No run yet. Make one on the **Live** page, or in a terminal: `labkit run quick`."


def pick_run() -> str | None:
    """Id of the run to show, the newest unless another is picked; None, and what to do next, when there is none."""
    labels = loaders.run_labels()
    if not labels:
        st.info(NO_RUN, icon=":material/lightbulb:")
        return None
    return st.selectbox(
        "Run", list(labels), key="run_id", format_func=labels.__getitem__, help="Newest first.", bind="query-params"
    )
