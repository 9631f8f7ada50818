"""One run's arms against base, or two runs beside each other: what is gained, how sure it is, and what it means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st
from labkit.analysis.effects import Gains
from labkit.experiments.dashboard import claimed
from labkit.experiments.dashboard.compare import Curves, Passes, metrics_of
from labkit.experiments.dashboard.gain_pictures import forest_of_two, gain_pictures, gain_rows, rows_of_two
from labkit.experiments.dashboard.meaning import meaning
from labkit.experiments.dashboard.meaning_of_two import meaning_of_two
from labkit.experiments.dashboard.two_runs import Fact, Pairing, TwoRuns, arms_of, curves_beside
from labkit.plots.claims import gains_figure
from labkit.plots.ecdf import ecdf_figure
from labkit.plots.forest import forest_figure
from labkit.plots.growth import growth_figure
from labkit.plots.interactions import interactions_figure
from labkit.plots.labels import METRIC_WORDS
from labkit.plots.per_turn import per_turn_figure

import loaders
import widgets
from loaders import compare as data
from widgets import addressed
from widgets.meaning import meaning as meaning_box
from widgets.runs import pick_run

Drawn = tuple[Any, Any]
"""An info record and what draws it."""
ALONE = "no other run: its own arms against base"
NO_HEAD = {"of": st.column_config.TextColumn("", width=150), "why": st.column_config.TextColumn("why", width="large")}
CLAIM_HEAD = {
    "link": st.column_config.LinkColumn("link", display_text="open"),
    "what": st.column_config.TextColumn("what", width="large"),
}


def pick_other(run_id: str) -> str:
    """Name of the run to compare with; empty: none."""
    asked = st.query_params.get("other")
    choices = loaders.choices(asked)
    if choices.problem and asked:
        st.warning(choices.problem, icon=":material/search_off:")
    names = ["", *(name for name in choices.labels if name != run_id)]
    means = choices.picked if asked and not choices.problem else None
    return addressed.pick("Compare with", names, "other", lambda name: choices.labels.get(name, ALONE), means or "")


def pick_metric(metrics: Sequence[str]) -> str:
    """What is compared."""
    words = "Above 1 is better on every measure: less time, more tokens a second, fewer tokens to compute."
    return addressed.pick("Measure", metrics or ["e2e_s"], "metric", lambda name: METRIC_WORDS[name], help=words)


def pick_passes(passes: Sequence[Passes]) -> Passes:
    """Which passes are compared, where there is a choice."""
    of_cache = choose("Cache", "cache", {each.cache: each.cache for each in passes}, "Cold: it was empty before.")
    left = {each.condition: each for each in passes if each.cache == of_cache}
    words = "What the run varied besides the layers."
    return left[choose("Condition", "condition", {name: name or "none" for name in left}, words)]


def choose(label: str, key: str, words: dict[str, str], about: str) -> str:
    """One of `words`; not asked where there is only one."""
    names = list(words)
    return names[0] if len(names) == 1 else addressed.pick(label, names, key, words.__getitem__, help=about)


def one(run_id: str, where: Any) -> None:
    """A run by itself. `where`: the place of the measure."""
    scope = data.scope(run_id)
    passes, gains, metric = None, None, "e2e_s"
    if scope.passes:
        passes = pick_passes(scope.passes)
        gains = data.gains(run_id, passes.cache, passes.condition)
        with where:
            metric = pick_metric(metrics_of(*gains))
    meaning_box(meaning(scope, gains, metric, data.limits(run_id)), run_id)
    shown = data.curves(run_id, *((passes.cache, passes.condition) if passes else ())) if scope.n else None
    drawn = [*(gained(gains, metric) if gains else ()), *(curves(shown, metric) if shown else ())]
    two_across([*drawn, *((info, growth_figure) for info in data.growth(run_id))], "run")
    if gains is not None:
        beside_claims(gains, metric)
        numbers(gain_rows(gains, metric))


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
    claims = claimed.on_metric(data.claims(), metric)
    with st.expander(f"Beside published claims on {METRIC_WORDS[metric]} ({len(claims)})", icon=":material/campaign:"):
        if claims.empty:
            st.caption("Nobody's claim on this measure is known here. On others there are some: pick another measure.")
            return
        left, right = st.columns(2)
        layers = left.pills("Layers", claimed.layers_of(claims), selection_mode="multi", format_func=claimed.layer_name)
        hardware = right.multiselect("Hardware", claimed.hardware_of(claims), placeholder="any")
        kept = claimed.picked(claims, layers, hardware)
        widgets.figure(claimed.beside(gains.arm_gains, kept, metric), gains_figure, "claims")
        st.dataframe(claimed.claim_rows(kept), column_config=CLAIM_HEAD, hide_index=True, key="claims_table")


def numbers(rows: Sequence[dict[str, Any]]) -> None:
    """All that the figures of gains are drawn from."""
    with st.expander("All numbers", icon=":material/table:"):
        st.dataframe(rows, column_config=NO_HEAD, hide_index=True, placeholder="–", key="numbers", alt="Gains")


def two(run_id: str, other: str, where: Any) -> None:
    """Run B against run A. `where`: the place of the measure."""
    found = data.two(run_id, other)
    passes, rows, metric = None, found.table, "e2e_s"
    if found.passes:
        passes = pick_passes(found.passes)
        rows = found.rows(passes.cache, passes.condition)
        with where:
            metric = pick_metric(metrics_of(rows))
    meaning_box(meaning_of_two(found, rows, metric, data.limits(run_id), data.limits(other)), other)
    differing(found)
    if passes is not None:
        both(run_id, other, passes, rows, metric)


def both(run_id: str, other: str, passes: Passes, rows: Any, metric: str) -> None:
    """What B gains, and one arm's curves in both runs."""
    arm = addressed.pick("Curves of the arm", arms_of(rows), "arm", str, help="Solid: run A. Dashed: run B.")
    one, other_one = (data.curves(name, passes.cache, passes.condition) for name in (run_id, other))
    info = forest_of_two(rows, metric)
    forest = [(info, forest_figure)] if info else []
    two_across([*forest, *curves(curves_beside(one, other_one, arm), metric)], "two")
    numbers(rows_of_two(rows, metric))


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


def page() -> None:
    """Which runs, then what they say."""
    left, middle, right = st.columns([3, 3, 2])
    with left:
        run_id = pick_run()
    if run_id is None:
        return
    with middle:
        other = pick_other(run_id)
    if other:
        two(run_id, other, right)
    else:
        one(run_id, right)


page()
