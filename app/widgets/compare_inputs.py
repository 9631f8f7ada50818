"""What the Compare page asks: which runs, which measure, which passes. Each stands in the address."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from labkit.experiments.dashboard.compare.compare import Passes
from labkit.experiments.dashboard.literal import literal
from labkit.plots.labels import METRIC_WORDS

import loaders
from widgets import addressed

ALONE = "no other run: its own arms against base"


def pick_other(run_id: str) -> str:
    """Name of the run to compare with; empty: none."""
    asked = st.query_params.get("other")
    choices = loaders.choices(asked)
    if choices.problem and asked:
        st.warning(literal(choices.problem), icon=":material/search_off:")
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
