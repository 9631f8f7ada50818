"""What every section of the Layers page is put together from: its head, its figures two by two, what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st
from labkit.experiments.dashboard.layers.words import Fact, Unpaired
from labkit.experiments.dashboard.literal import literal

import widgets


def head(finding: str, facts: Sequence[Fact], unpaired: Unpaired | None, notes: Sequence[str]) -> None:
    """What every section begins with: the sentence, the numbers, and what is missing."""
    st.markdown(f"##### {literal(finding)}")
    with st.container(horizontal=True):
        for fact in facts:
            st.metric(
                fact.label, fact.value, fact.note or None, help=fact.help or None, delta_color="off",
                delta_arrow="off", border=True, width=175,
            )  # fmt: skip
    for note in notes:
        st.caption(literal(note))
    if unpaired:
        st.info(literal(unpaired.words), icon=":material/link_off:")
        how_to("Measure both on the same requests:", unpaired.command)


def grid(*figures: tuple[Any, Any, str] | None) -> None:
    """Figures two by two, each with its info, its drawing and its key; None: not there."""
    there = [figure for figure in figures if figure]
    for first in range(0, len(there), 2):
        for place, (info, draw, key) in zip(st.columns(2), there[first : first + 2], strict=False):
            with place:
                figure(info, draw, key)


def figure(info: Any, draw: Any, key: str) -> None:
    """A figure; where there is nothing to draw its question and why, as text that fits any width."""
    if not info.caption.empty:
        widgets.figure(info, draw, key)
        return
    st.markdown(f"**{info.caption.title}**")
    st.caption(info.caption.empty)


def how_to(words: str, command: str) -> None:
    """A command to copy, and the page on which the same is two clicks."""
    if command:
        st.caption(words)
        st.code(command, language="bash", wrap_lines=True)
        st.page_link("app_pages/live.py", label="Or on the Live page", icon=":material/toggle_on:")
