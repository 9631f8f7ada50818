"""The section on prefix caching."""

from __future__ import annotations

from typing import Any

import streamlit as st
from labkit.analysis.format import DASH
from labkit.experiments.dashboard.layers.losses import Loss, Losses
from labkit.experiments.dashboard.layers.prefix import PrefixSection
from labkit.plots.cache_gap import cache_gap_figure
from labkit.plots.hit_rates import hit_rates_figure
from labkit.plots.tokens_per_turn import tokens_per_turn_figure
from labkit.plots.twin_lines import twin_lines_figure

import loaders.layers
from widgets.layer_parts import grid, head


def prefix(run_id: str, arm: str, cache: str, condition: str | None) -> None:
    """Prefix caching."""
    shown: PrefixSection = loaders.layers.prefix(run_id, arm, cache, condition)
    head(shown.finding, shown.facts, shown.unpaired, shown.notes)
    grid(
        (shown.tokens, tokens_per_turn_figure, "tokens"),
        None if shown.unpaired else (shown.saved, twin_lines_figure, "saved"),
        (shown.gap, cache_gap_figure, "gap"),
        (shown.rates, hit_rates_figure, "rates"),
    )
    losses(run_id, {"arm": arm, "cache": cache}, shown.losses)


def losses(run_id: str, passes: dict[str, str], lost: Losses) -> None:
    """Where tokens were lost, why, and what to do. `passes`: arm and cache of those that are looked at."""
    if not lost.worst:
        return
    st.subheader("Where were tokens lost?")
    for advice in lost.do:
        st.markdown(f"- {advice}")
    st.dataframe(
        [loss_row(one) for one in lost.worst],
        column_config=LOSS_COLUMNS,
        placeholder=DASH,
        height="content",
        key="losses",
        alt="Steps that lost most",
    )
    if lost.n > len(lost.worst):
        st.caption(f"The {len(lost.worst)} that lost most, of {lost.n:,} steps that lost any.")
    read_worst(run_id, passes, lost.worst[0])


def read_worst(run_id: str, passes: dict[str, str], worst: Loss) -> None:
    """The way to the step that lost most, on the Trajectory page."""
    where = {name: str(getattr(worst, name)) for name in ("task", "recording", "agent", "repeat", "turn", "condition")}
    address = {"run_id": run_id, **passes, **{name: value for name, value in where.items() if value}}
    label = f"Read turn {worst.turn} of {worst.task}, which lost most"
    st.page_link("app_pages/trajectory.py", label=label, icon=":material/forum:", query_params=address)


LOSS_COLUMNS = {
    "lost": st.column_config.NumberColumn("lost", format="localized", help="Tokens seen before, and computed again."),
    "why": st.column_config.TextColumn("mostly", help="The reason for most of the tokens that the step lost."),
    "prompt": st.column_config.NumberColumn("of prompt", format="localized", help="Tokens of the prompt."),
    "cost": st.column_config.NumberColumn(
        "about (s)", format="%.2f", help="What was lost times the step's own seconds of prefill per computed token."
    ),
}


def loss_row(one: Loss) -> dict[str, Any]:
    """One row of the table."""
    return {
        "task": one.task, "turn": one.turn, "lost": one.lost, "why": one.why, "prompt": one.prompt, "cost": one.cost_s,
        "agent": one.agent, "repeat": one.repeat,
    }  # fmt: skip
