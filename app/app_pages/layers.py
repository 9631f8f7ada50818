"""What each layer did in a run: one section a layer, each begun with a sentence made from the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import streamlit as st
from labkit.analysis.format import DASH, count
from labkit.core.arms import Layer
from labkit.experiments.dashboard.layers_losses import Loss, Losses
from labkit.experiments.dashboard.layers_prefix import PrefixSection
from labkit.experiments.dashboard.layers_rows import LayerHere, condition_words
from labkit.experiments.dashboard.layers_spec import SpecSection
from labkit.experiments.dashboard.layers_split import SplitSection
from labkit.experiments.dashboard.layers_transfers import Trouble
from labkit.experiments.dashboard.layers_words import Fact, Unpaired
from labkit.plots.acceptance import acceptance_by_kind_figure
from labkit.plots.cache_gap import cache_gap_figure
from labkit.plots.draft_gain import draft_gain_figure
from labkit.plots.drafted import drafted_figure
from labkit.plots.drafters import drafters_figure
from labkit.plots.hit_rates import hit_rates_figure
from labkit.plots.interference import timeline_figure
from labkit.plots.load_lines import load_figure
from labkit.plots.positions import positions_figure
from labkit.plots.tokens_per_turn import tokens_per_turn_figure
from labkit.plots.transfers import transfers_figure
from labkit.plots.twin_lines import twin_lines_figure

import loaders.layers
import widgets
from widgets.runs import pick_run

TITLES: dict[Layer, str] = {
    "prefix_caching": "Prefix caching",
    "pd_split": "Prefill/decode split",
    "speculation": "Speculation",
}
ALL, PLANNED = "everything", "planned"
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
        return
    st.fragment(follow, run_every="5s" if here.live else None)(run_id, layer, *choose(here), here.live)


def missing(here: LayerHere) -> None:
    """The run has no arm with the layer: what to do to have one."""
    st.info(here.missing, icon=":material/lightbulb:")
    how_to("Measure it beside the same engine without it:", here.command)


def how_to(words: str, command: str) -> None:
    """A command to copy, and the page on which the same is two clicks."""
    if command:
        st.caption(words)
        st.code(command, language="bash", wrap_lines=True)
        st.page_link("app_pages/live.py", label="Or on the Live page", icon=":material/toggle_on:")


def choose(here: LayerHere) -> tuple[str, str, str | None]:
    """The arm, the cache state and the condition to look at; what has one value is not asked for."""
    words = {one or PLANNED: condition_words(one) for one in here.conditions}
    conditions = [ALL, *words] if len(words) > 1 else [ALL]
    places = iter(st.columns(3))
    arm = pick(places, "Arm", here.arms, "arm", "Arms of this run with the layer on.")
    cache = pick(places, "Passes", here.caches, "cache", "Cold: the cache held nothing of the pass before.", CACHES)
    of = pick(places, "Condition", conditions, "condition", "What the run varied besides the arm.", words)
    return arm, cache, None if of == ALL else of.replace(PLANNED, "")


def pick(
    places: Iterator[Any],
    label: str,
    options: Sequence[str],
    key: str,
    help: str,
    words: Mapping[str, str] | None = None,
) -> str:
    """A choice that stands in the page's address, in the next of `places`; the only option where there is one."""
    if len(options) == 1:
        return options[0]
    named = words or {}
    with next(places):
        return st.selectbox(
            label, options, key=key, format_func=lambda one: named.get(one, one), help=help, bind="query-params"
        )


def follow(run_id: str, layer: Layer, arm: str, cache: str, condition: str | None, live: bool) -> None:
    """The section as it is now; the page is drawn anew when a run that was live has ended."""
    if live and not loaders.layers.here(run_id, layer).live:
        st.rerun()
    {"prefix_caching": prefix, "pd_split": split, "speculation": speculation}[layer](run_id, arm, cache, condition)


def head(finding: str, facts: Sequence[Fact], unpaired: Unpaired | None, notes: Sequence[str]) -> None:
    """What every section begins with: the sentence, the numbers, and what is missing."""
    st.markdown(f"##### {finding}")
    with st.container(horizontal=True):
        for fact in facts:
            st.metric(
                fact.label, fact.value, fact.note or None, help=fact.help or None, delta_color="off",
                delta_arrow="off", border=True, width=175,
            )  # fmt: skip
    for note in notes:
        st.caption(note)
    if unpaired:
        st.info(unpaired.words, icon=":material/link_off:")
        how_to("Measure both on the same requests:", unpaired.command)


def grid(*figures: tuple[Any, Any, str] | None) -> None:
    """Figures two by two, each with its info, its drawing and its key; None: not there."""
    there = [figure for figure in figures if figure]
    for first in range(0, len(there), 2):
        for place, (info, draw, key) in zip(st.columns(2), there[first : first + 2], strict=False):
            with place:
                widgets.figure(info, draw, key)


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
    losses(run_id, arm, shown.losses)


def losses(run_id: str, arm: str, lost: Losses) -> None:
    """Where tokens were lost, why, and what to do."""
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
    )
    if lost.n > len(lost.worst):
        st.caption(f"The {len(lost.worst)} that lost most, of {lost.n:,} steps that lost any.")
    worst = lost.worst[0]
    where = {name: str(getattr(worst, name)) for name in ("task", "recording", "agent", "repeat", "turn")}
    address = {"run_id": run_id, "arm": arm, **{name: value for name, value in where.items() if value}}
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


def split(run_id: str, arm: str, cache: str, condition: str | None) -> None:
    """The prefill/decode split."""
    shown: SplitSection = loaders.layers.split(run_id, arm, cache, condition)
    head(shown.finding, shown.facts, shown.unpaired, shown.notes)
    if shown.cannot:
        st.warning(shown.cannot, icon=":material/developer_board_off:")
    if shown.where:
        st.caption(f"Where it ran: {shown.where}.")
    load(shown)
    grid(*((info, twin_lines_figure, f"twin-{info.measure}") for info in shown.lines))
    left, right = st.columns(2)
    with left:
        widgets.figure(shown.transfers, transfers_figure, "transfers")
    with right:
        failures(shown.troubles)


def load(shown: SplitSection) -> None:
    """What company costs, where the run was under load."""
    if not shown.loaded:
        return
    grid(*((info, load_figure, f"load-{info.measure}") for info in shown.loaded.lines))
    widgets.figure(shown.loaded.moment, timeline_figure, "moment")


def failures(troubles: Sequence[Trouble]) -> None:
    """What went wrong on the way from prefill to decode; a dash where nobody counts it."""
    st.subheader("What failed?")
    for one in troubles:
        words = one.words if one.n is not None else f"not counted in this run: {one.words}"
        of = "" if one.of is None else f" of {count(one.of)}"
        icon = "help" if one.n is None else "error" if one.n else "check_circle"
        st.markdown(f":material/{icon}: **{count(one.n)}**{of} {one.what}  \n:small[:gray[{words}]]")


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
    if shown.several:
        for its in shown.costs:
            st.caption(f"{its.method}: {its.words}.")
        st.caption("Choose one drafter as the condition to see what it drafted turn by turn.")


page()
