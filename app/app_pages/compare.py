"""One run's arms against base, or two runs beside each other: what is gained, how sure it is, and what it means."""

from __future__ import annotations

from typing import Any

import streamlit as st
from labkit.experiments.dashboard.compare.compare import Passes, Scope, metrics_of
from labkit.experiments.dashboard.compare.curves import curves_beside
from labkit.experiments.dashboard.compare.gain_pictures import forest_of_two, gain_rows, rows_of_two
from labkit.experiments.dashboard.compare.meaning import meaning
from labkit.experiments.dashboard.compare.meaning_of_two import meaning_of_two
from labkit.experiments.dashboard.compare.two_runs import arms_of
from labkit.plots.forest import forest_figure
from labkit.plots.growth import growth_figure

from loaders import compare as data
from widgets import addressed
from widgets.compare_inputs import choose, pick_metric, pick_other, pick_passes
from widgets.compare_parts import beside_claims, curves, differing, gained, numbers, two_across
from widgets.following import follow
from widgets.meaning import meaning as meaning_box
from widgets.runs import pick_run


def one(run_id: str, where: Any) -> None:
    """A run by itself. `where`: the place of the measure."""
    scope = data.scope(run_id)
    if not scope.passes:
        meaning_box(meaning(scope, None, "e2e_s", data.limits(run_id)), run_id)
        curves_alone(run_id, scope)
        return
    passes = pick_passes(scope.passes)
    gains = data.gains(run_id, passes.cache, passes.condition)
    with where:
        metric = pick_metric(metrics_of(*gains))
    meaning_box(meaning(scope, gains, metric, data.limits(run_id)), run_id)
    drawn = [*gained(gains, metric), *curves(data.curves(run_id, passes.cache, passes.condition), metric)]
    two_across([*drawn, *((info, growth_figure) for info in data.growth(run_id))], "run")
    beside_claims(gains, metric)
    numbers(gain_rows(gains, metric))


def curves_alone(run_id: str, scope: Scope) -> None:
    """Of a run in which nothing can be compared."""
    if not scope.arms or scope.kind == "nothing":
        return
    names = {name: name for name in scope.conditions}
    condition = choose("Condition", "condition", names, "What the run varied besides the layers.") if names else None
    two_across(curves(data.curves(run_id, None, condition), "e2e_s"), "alone")


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
        follow(other)
    else:
        one(run_id, right)
    follow(run_id)


page()
