"""A page about a run that goes on keeps up with it: drawn anew with each step, and once more at its end."""

from __future__ import annotations

import streamlit as st

import loaders

WORDS = "This run goes on; the page follows it."


def follow(run_id: str) -> None:
    """Call it once on a page, last. Nothing is looked up again once the run has ended."""
    run = loaders.opened(run_id)
    if run.live:
        st.fragment(_look, run_every="5s")(run_id, len(run.steps))


def _look(run_id: str, seen: int) -> None:
    """`seen`: the steps that the page was drawn with."""
    run = loaders.opened(run_id)
    if not run.live or len(run.steps) != seen:
        st.rerun()
    st.caption(f":material/autorenew: {WORDS}")
