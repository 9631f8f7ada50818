"""What numbers mean, in a box: two sentences that everybody reads, and the rest for who wants it."""

from __future__ import annotations

import streamlit as st
from labkit.experiments.dashboard.compare.meant import Meaning
from labkit.experiments.dashboard.literal import literal

PAGES = {
    "live": ("Live", ":material/toggle_on:"),
    "layers": ("Layers", ":material/layers:"),
    "trajectory": ("Trajectory", ":material/forum:"),
    "capacity": ("Capacity and cost", ":material/payments:"),
}
"""Pages by their address."""


def meaning(said: Meaning, run_id: str) -> None:
    """`run_id`: of the run that a link takes along."""
    with st.container(border=True):
        st.subheader("What does this mean?", anchor=False)
        st.markdown(f"{':material/check_circle:' if said.told else ':material/help:'} **{literal(said.finding)}**")
        st.markdown(f":material/front_hand: {literal(said.caution)}")
        if said.doubts:
            with st.expander(f"What else limits it ({len(said.doubts)})", icon=":material/info:"):
                st.markdown("\n".join(f"- {literal(doubt.words)}{_detail(doubt.detail)}" for doubt in said.doubts))
        if said.page:
            words, icon = PAGES[said.page]
            st.page_link(
                f"app_pages/{said.page}.py",
                label=f"More on the page {words}",
                icon=icon,
                query_params={"run_id": run_id},
            )


def _detail(detail: str) -> str:
    """The numbers behind a sentence, small, on one line."""
    return f"  \n  :small[{literal(' '.join(detail.split()))}]" if detail else ""
