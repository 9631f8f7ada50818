"""The tables on drafts as a reader has them: numbers with their units, and a dash where nothing was measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pandas as pd

from labkit.analysis.effect_words import MIN_TASKS
from labkit.analysis.format import DASH, missing, percent, plain, seconds, times

Written = dict[str, tuple[str, Callable[[Any], str]]]
"""Column to its heading and how its values are written."""


def whole(value: Any) -> str:
    """A count: `1,204`."""
    return DASH if missing(value) else f"{value:,.0f}"


def yes(value: Any) -> str:
    """`yes` or `no`."""
    return "yes" if value else "no"


def written(frame: pd.DataFrame, columns: Written) -> pd.DataFrame:
    """These columns, each under its heading and as text; the first is the index. "Not measured" is a dash."""
    made = {heading: [how(value) for value in frame[name]] for name, (heading, how) in columns.items()}
    table = pd.DataFrame(made, dtype="object")
    return table.set_index(table.columns[0])


def promised(promises: pd.DataFrame) -> pd.DataFrame:
    """`drafting.promises`: what a round of each drafter costs and yields at most."""
    columns: Written = {
        "method": ("drafter", str), "k": ("proposes (k)", whole), "c": ("a draft token costs (c), passes", plain),
        "passes": ("a round lasts, and must yield", plain), "most_tokens": ("yields at most", whole),
        "most_gain": ("at most so fast", times),
    }  # fmt: skip
    return written(promises, columns)


def accepted(drafters: pd.DataFrame) -> pd.DataFrame:
    """`drafter_table`, on all steps."""
    rows = drafters[drafters["by"] == "all"]
    columns: Written = {
        "method": ("drafter", str), "n": ("steps", whole), "n_tasks": ("tasks", whole), "drafts": ("rounds", whole),
        "drafted": ("tokens drafted", whole), "accepted": ("accepted", whole), "rate": ("rate", percent),
        "span": ("95 % interval", str), "length": ("tokens a round (tau)", plain),
    }  # fmt: skip
    return written(rows.assign(span=_spans(rows)), columns)


def _spans(rows: pd.DataFrame) -> list[str]:
    """Of rates, which lie in 0 to 1; a dash for fewer tasks than the interval is proven for."""
    return [_span(*ends) for ends in zip(rows["n_tasks"], rows["rate_low"], rows["rate_high"], strict=True)]


def _span(n_tasks: int, low: float, high: float) -> str:
    if n_tasks < MIN_TASKS or missing(low):
        return DASH
    if math.isclose(low, high):
        return f"{percent(low)} in every task"
    return f"{percent(max(low, 0.0))} to {percent(min(high, 1.0))}"


def seconds_of_rounds(rounds: pd.DataFrame) -> pd.DataFrame:
    """`round_table`, on all steps: what a round lasts, and the seconds of decoding."""
    columns: Written = {
        "method": ("drafter", str), "n_pairs": ("pairs", whole), "n_tasks": ("tasks", whole),
        "rounds": ("rounds", whole),
        "length": ("a round yields, tokens", plain), "round_passes": ("and lasts, passes", plain),
        "without_s": ("decoding without", seconds), "with_s": ("with", seconds), "given_s": ("given", seconds),
        "taken_s": ("taken", seconds), "decode_gain": ("decoding is so fast", times),
    }  # fmt: skip
    return written(rounds[rounds["by"] == "all"], columns)


def shares_of_decoding(rounds: pd.DataFrame) -> pd.DataFrame:
    """`round_table`, by kind of step: how much of a step is decoding, and what that leaves to gain."""
    columns: Written = {
        "method": ("drafter", str), "group": ("kind of step", str), "n_pairs": ("pairs", whole),
        "n_tasks": ("tasks", whole), "decode_share": ("share of decoding", percent), "decode_gain": ("decoding", times),
        "first_gain": ("first token", times), "gain": ("whole step", times), "most": ("at most", times),
    }  # fmt: skip
    return written(rounds[rounds["by"] == "kind"], columns)


def by_form(forms: pd.DataFrame) -> pd.DataFrame:
    """`drafted.forms`: tool calls beside free text."""
    columns: Written = {
        "method": ("drafter", str), "says": ("reply", str), "n": ("steps", whole), "n_tasks": ("tasks", whole),
        "drafted": ("tokens drafted", whole), "a_round": ("drafted a round", plain), "rate": ("rate", percent),
        "span": ("95 % interval", str), "length": ("a round yields", plain),
    }  # fmt: skip
    return written(forms.assign(span=_spans(forms)), columns)


def by_position(positions: pd.DataFrame) -> pd.DataFrame:
    """`given_before`: each position of a draft."""
    columns: Written = {
        "method": ("drafter", str), "position": ("position", whole), "drafts": ("rounds", whole),
        "accepted": ("accepted", whole), "rate": ("of all rounds", percent),
        "given": ("of those that got there", percent),
    }  # fmt: skip
    return written(positions, columns)


def texts(unchanged: pd.DataFrame) -> pd.DataFrame:
    """`same_text.unchanged`: pairs, and how many of them are the same."""
    columns: Written = {
        "method": ("drafter", str), "run": ("run", str), "n_pairs": ("pairs", whole),
        "n_tasks": ("tasks", whole), "same_text": ("same text", whole),
        "same_length": ("as many tokens", whole), "tokens_without": ("tokens without", whole),
        "tokens_with": ("tokens with", whole),
    }  # fmt: skip
    return written(unchanged, columns)


def fitting(heads: pd.DataFrame) -> pd.DataFrame:
    """`drafting.heads`: which head is trained on the profile's own model."""
    columns: Written = {
        "name": ("head", str), "trained_on": ("trained on", str), "fits": ("fits", yes),
        "planned": ("in the plan", yes), "listed": ("listed in, read August 2026", str),
    }  # fmt: skip
    return written(heads, columns)
