"""The section on speculation."""

from __future__ import annotations

import streamlit as st
from labkit.experiments.dashboard.layers.spec import SpecSection
from labkit.experiments.dashboard.literal import literal
from labkit.plots.acceptance import acceptance_by_kind_figure
from labkit.plots.draft_gain import draft_gain_figure
from labkit.plots.drafted import drafted_figure
from labkit.plots.drafters import drafters_figure
from labkit.plots.positions import positions_figure

import loaders.layers
from widgets.layer_parts import grid, head


def speculation(run_id: str, arm: str, cache: str, condition: str | None) -> None:
    """Speculation."""
    shown: SpecSection = loaders.layers.spec(run_id, arm, cache, condition)
    head(shown.finding, shown.facts, shown.unpaired, shown.notes)
    if not shown.measured:
        return
    grid(
        (shown.kinds, drafters_figure if shown.several else acceptance_by_kind_figure, "kinds"),
        None if shown.several else (shown.drafted, drafted_figure, "drafted"),
        (shown.positions, positions_figure, "positions"),
        (shown.turns, drafters_figure, "turns") if len(shown.turns.groups) > 1 else None,
        None if shown.unpaired else (shown.gain, draft_gain_figure, "gain"),
        None if shown.unpaired else (shown.gain_by_kind, drafters_figure, "gain-kind"),
    )
    several(shown)


def several(shown: SpecSection) -> None:
    """What each of several drafters cost, and how to look at one."""
    if not shown.several:
        return
    for its in shown.costs:
        st.caption(f"{literal(its.method)}: {literal(its.words)}.")
    st.caption("Choose one drafter as the condition to see what it drafted turn by turn.")
