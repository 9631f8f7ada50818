"""What the Compare page is put together from: figures in two columns, tables, and claims beside measurements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st
from labkit.analysis.effects import Gains
from labkit.core.errors import LabError
from labkit.experiments.dashboard.compare import claimed
from labkit.experiments.dashboard.compare.curves import Curves
from labkit.experiments.dashboard.compare.gain_pictures import gain_pictures
from labkit.experiments.dashboard.compare.two_runs import Fact, Pairing, TwoRuns
from labkit.experiments.dashboard.literal import literal
from labkit.plots.claims import gains_figure
from labkit.plots.ecdf import ecdf_figure
from labkit.plots.forest import forest_figure
from labkit.plots.interactions import interactions_figure
from labkit.plots.labels import METRIC_WORDS
from labkit.plots.per_turn import per_turn_figure

import widgets
from loaders import compare as data

Drawn = tuple[Any, Any]
"""An info record and what draws it."""
NO_HEAD = {"of": st.column_config.TextColumn("", width=150), "why": st.column_config.TextColumn("why", width="large")}
CLAIM_HEAD = {
    "link": st.column_config.LinkColumn("link", display_text="open"),
    "layer": st.column_config.TextColumn("layer", width=60),
    "claim": st.column_config.TextColumn("claim", width=100),
    "hardware": st.column_config.TextColumn("hardware", width=110),
    "what": st.column_config.TextColumn("what", width=330),
    "but": st.column_config.TextColumn("but", width=330),
}


def gained(gains: Gains, metric: str) -> list[Drawn]:
    """Layers, arms, and how layers work together."""
    shown = gain_pictures(gains, metric)
    drawn = ((shown.layers, forest_figure), (shown.arms, forest_figure), (shown.interactions, interactions_figure))
    return [(info, draw) for info, draw in drawn if info is not None]


def curves(shown: Curves, metric: str) -> list[Drawn]:
    """How times are spread, the measure's own first, and how they develop over a conversation."""
    times = [(info, ecdf_figure) for info in shown.times_for(metric)]
    return [*times[:1], *((info, per_turn_figure) for info in shown.turns), *times[1:]]


def two_across(drawn: Sequence[Drawn], key: str) -> None:
    """Figures in two columns, from left to right."""
    for first in range(0, len(drawn), 2):
        for place, (info, draw) in enumerate(drawn[first : first + 2]):
            if not place:
                columns = st.columns(2)
            with columns[place]:
                widgets.figure(info, draw, f"{key}-{first + place}")


def beside_claims(gains: Gains, metric: str) -> None:
    """What others published on this measure, never mixed with what was measured."""
    try:
        claims = claimed.on_metric(data.claims(), metric)
    except LabError as error:
        st.caption(f"Published claims cannot be shown: {literal(str(error))}")
        return
    with st.expander(f"Beside published claims on {METRIC_WORDS[metric]} ({len(claims)})", icon=":material/campaign:"):
        if claims.empty:
            st.caption("Nobody's claim on this measure is known here. On others there are some: pick another measure.")
        else:
            picked_claims(gains, claims, metric)


def picked_claims(gains: Gains, claims: Any, metric: str) -> None:
    """The claims of some layers and hardware, drawn hollow, and under them who said what."""
    left, right = st.columns(2)
    layers = left.pills(
        "Layers", claimed.layers_of(claims), selection_mode="multi", format_func=claimed.layer_name, key="claim_layers"
    )
    hardware = right.multiselect("Hardware", claimed.hardware_of(claims), placeholder="any", key="claim_hardware")
    kept = claimed.picked(claims, layers, hardware)
    widgets.figure(claimed.beside(gains.arm_gains, kept, metric), gains_figure, "claims")
    rows = claimed.claim_rows(kept)
    st.dataframe(rows, column_config=CLAIM_HEAD, hide_index=True, key="claims_table", alt="Published claims")


def numbers(rows: Sequence[dict[str, Any]]) -> None:
    """All that the figures of gains are drawn from."""
    with st.expander("All numbers", icon=":material/table:"):
        st.dataframe(rows, column_config=NO_HEAD, hide_index=True, placeholder="–", key="numbers", alt="Gains")


def differing(found: TwoRuns) -> None:
    """What is not the same in both runs, and what of their requests is paired."""
    left, right = st.columns(2)
    with left:
        facts(found.ran_on, "What did they run on?", "The same machine, model, versions and engines.")
        facts(found.asked, "What were they asked?", "The same.")
    with right:
        st.markdown("**Did they send the same requests?**")
        st.table([pairing_cells(each) for each in found.requests], border="horizontal", hide_index=True)


def pairing_cells(of: Pairing) -> dict[str, str]:
    """A row of the table of recordings."""
    return {"recording": of.recording, "paired": "paired" if of.paired else "not paired", "why": of.why}


def facts(differing: Sequence[Fact], title: str, same: str) -> None:
    """A row for each fact that differs."""
    st.markdown(f"**{title}**")
    if not differing:
        st.caption(same)
        return
    rows = [{"what differs": each.what, "run A": each.a, "run B": each.b} for each in differing]
    st.table(rows, border="horizontal", hide_index=True)
