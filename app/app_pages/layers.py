"""What each layer did in a run: one section a layer, each begun with a sentence made from the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import streamlit as st
from labkit.core.arms import Layer
from labkit.experiments.dashboard.layers.rows import LayerHere, condition_words
from labkit.experiments.dashboard.literal import literal

import loaders.layers
from widgets import addressed
from widgets.layer_parts import how_to
from widgets.layer_prefix import prefix
from widgets.layer_speculation import speculation
from widgets.layer_split import split
from widgets.runs import pick_run

TITLES: dict[Layer, str] = {
    "prefix_caching": "Prefix caching",
    "pd_split": "Prefill/decode split",
    "speculation": "Speculation",
}
ALL, PLANNED = "everything", "planned"
SECTIONS: dict[Layer, Callable[[str, str, str, str | None], None]] = {
    "prefix_caching": prefix,
    "pd_split": split,
    "speculation": speculation,
}
CACHES = {"cold": "cold passes", "warm": "warm passes"}


def page() -> None:
    """A run, and the section of the open tab; the others are worked out when they are opened."""
    run_id = pick_run()
    if run_id is None:
        return
    tabs = st.tabs(list(TITLES.values()), key="layer", on_change="rerun", bind="query-params")
    for tab, layer in zip(tabs, TITLES, strict=True):
        if tab.open:
            with tab:
                section(run_id, layer)


def section(run_id: str, layer: Layer) -> None:
    """One layer of one run, followed while the run goes on."""
    here = loaders.layers.here(run_id, layer)
    if here.missing:
        missing(here)
        if here.live:
            st.fragment(wait, run_every="5s")(run_id, layer)
        return
    st.fragment(follow, run_every="5s" if here.live else None)(run_id, layer, *choose(here), here.live)


def missing(here: LayerHere) -> None:
    """The run has no arm with the layer: what to do to have one."""
    st.info(literal(here.missing), icon=":material/lightbulb:")
    how_to("Measure it beside the same engine without it:", here.command)


def wait(run_id: str, layer: Layer) -> None:
    """A run that goes on may come to the layer yet; the page is drawn anew when it has, or has ended."""
    here = loaders.layers.here(run_id, layer)
    if not here.missing or not here.live:
        st.rerun()
    st.caption("The run goes on; its section appears here with the layer's first step.")


def choose(here: LayerHere) -> tuple[str, str, str | None]:
    """The arm, the cache state and the condition to look at; what has one value is not asked for."""
    words = {one or PLANNED: condition_words(one) for one in here.conditions}
    conditions = [ALL, *words] if len(words) > 1 else [ALL]
    asked = [
        ("Arm", here.arms, "arm", "Arms of this run with the layer on.", {}),
        ("Passes", here.caches, "cache", "Cold: the cache held nothing of the pass before.", CACHES),
        ("Condition", conditions, "condition", "What the run varied besides the arm.", words),
    ]
    places = iter(st.columns(3))
    arm, cache, condition = (pick_in(places, *one) for one in asked)
    return arm, cache, None if condition == ALL else condition.replace(PLANNED, "")


def pick_in(
    places: Iterator[Any], label: str, options: Sequence[str], key: str, help: str, words: Mapping[str, str]
) -> str:
    """A choice in the next of `places`; without one to make, the place is left to the next choice."""
    if len(options) == 1:
        st.query_params.pop(key, None)
        return options[0]
    with next(places):
        return addressed.pick(label, options, key, lambda one: words.get(one, one), help=help)


def follow(run_id: str, layer: Layer, arm: str, cache: str, condition: str | None, live: bool) -> None:
    """The section as it is now; the page is drawn anew when a run that was live has ended."""
    if live and not loaders.layers.here(run_id, layer).live:
        st.rerun()
    SECTIONS[layer](run_id, arm, cache, condition)


page()
