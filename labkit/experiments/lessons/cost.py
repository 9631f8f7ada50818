"""What a run cost, step by step: the hour, the seconds, the tokens; and what the choice of a denominator does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from labkit.analysis.cost import cost_table
from labkit.analysis.energy import group_joules
from labkit.analysis.format import DASH, count, missing, percent, plain, seconds, times, usd
from labkit.core.arms import BASE
from labkit.core.errors import BadInput
from labkit.core.prices import Price
from labkit.experiments.compared import of_whole_laps
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.lessons.outcome import Outcome
from labkit.experiments.report.english import counted
from labkit.experiments.solved import solved_tasks
from labkit.store.prices import load_prices

Row = Mapping[str, Any]


def price_of(profile: str, name: str = "") -> Price:
    """The price with this name; the first one of the profile's machine when `name` is empty.

    Raises UnknownName, and BadInput for a profile whose machine has no price.
    """
    known = load_prices()
    found = known.named(name) if name else known.of_profile(profile)
    if not found:
        raise BadInput("PRICE", name, ", ".join(known), f"No price is known for the machine of {profile}.")
    return next(iter(found.values()))


def figures_of(price: Price) -> pd.DataFrame:
    """Every figure that the price is made of: value, unit, date, and who says so."""
    return pd.DataFrame(
        [
            {
                "figure": figure.meaning,
                "value": f"{figure.value:,g} {figure.unit}".rstrip(),
                "as of": figure.date,
                "from": f"assumption: {figure.source}" if figure.assumption else figure.source,
                "note": figure.note or DASH,
            }
            for figure in price.figures
        ]
    )


def costs_of(opened: Opened, price: Price) -> pd.DataFrame:
    """The run's costs at this price; columns as labkit.analysis.cost.CostRow declares them."""
    steps, _ = of_whole_laps(opened.info, opened.steps)
    joules = group_joules(opened.samples, steps)
    return cost_table(steps, {price.name: price}, joules, solved_tasks(opened.info, opened.events))


def row_of(costs: pd.DataFrame, arm: str) -> Row:
    """The row of an arm's cold passes. Raises BadInput where there is none."""
    rows: list[Any] = costs[(costs["arm"] == arm) & (costs["cache"] == "cold")].to_dict("records")
    if not rows:
        raise BadInput("arm", arm, ", ".join(dict.fromkeys(costs["arm"])) or "no arm: nothing was measured")
    found: Row = rows[0]
    return found


def arithmetic(row: Row) -> pd.DataFrame:
    """From the hour to a million generated tokens, a line for each step. `row`: of `row_of`."""
    spent, tokens = float(row["seconds"]), row["generated_tokens"]
    an_hour = None if missing(tokens) or not spent else tokens / spent * 3600
    lines = (
        ("an hour of work", usd(row["usd_per_hour"]), "the figures of the price"),
        ("time", seconds(spent), f"first send to last end of {counted(int(row['n_tasks']), 'task run')}"),
        ("spent", usd(row["usd"]), "hour / 3600 * seconds"),
        ("generated", f"{count(tokens)} tokens", f"usage of {counted(int(row['n_steps']), 'step')}"),
        ("generated in an hour", f"{count(an_hour)} tokens", "tokens / seconds * 3600"),
        ("per million generated", usd(row["usd_per_m_generated"]), "hour / tokens in an hour * 1,000,000"),
        ("per task run", usd(row["usd_per_task"]), "spent / task runs"),
        ("per solved task", usd(row["usd_per_solved"]), "spent / task runs whose hidden check passed"),
    )
    return pd.DataFrame(lines, columns=["what", row["arm"], "how"])


def denominators(costs: pd.DataFrame, arm: str = "prefix") -> Outcome:
    """Whether an arm makes a prompt token cheaper and a computed one dearer, at one and the same bill."""
    there = set(costs["arm"])
    if not {BASE.label, arm} <= there:
        return Outcome(None, f"{BASE.label} and {arm} were not both measured in this run")
    base, other = row_of(costs, BASE.label), row_of(costs, arm)
    names = ("usd_per_m_prompt", "usd_per_m_computed")
    if any(missing(row[name]) for row in (base, other) for name in names):
        return Outcome(None, "not every step told how many of its prompt tokens were computed")
    prompt, computed = (other[name] / base[name] for name in names)
    n = counted(int(other["n_tasks"]), "task run")
    saw = (
        f"under {arm} the bill fell to {percent(other['usd'] / base['usd'])} of base's and the computed tokens to "
        f"{percent(other['computed_tokens'] / base['computed_tokens'])}, so a million prompt tokens cost "
        f"{usd(other[names[0]])} against {usd(base[names[0]])} ({times(prompt)}) and a million computed ones "
        f"{usd(other[names[1]])} against {usd(base[names[1]])} ({times(computed)}; n = {n})"
    )
    return Outcome(prompt < 1 < computed, saw)


def break_even(costs: pd.DataFrame) -> pd.DataFrame:
    """How many tasks an arm may fail and still cost less per solved task than base: its bill over base's."""
    base = float(row_of(costs, BASE.label)["usd_per_task"])
    rows = []
    for arm in dict.fromkeys(costs["arm"]):
        row = row_of(costs, arm)
        share = row["usd_per_task"] / base
        rows.append(
            {
                "arm": arm,
                "a task run": usd(row["usd_per_task"]),
                "of base's": percent(share),
                "solved": DASH if missing(row["n_solved"]) else f"{row['n_solved']} of {row['n_tasks']}",
                "a solved task": usd(row["usd_per_solved"]),
                "per solved task": _per_solved(arm, share),
                "n": int(row["n_tasks"]),
            }
        )
    return pd.DataFrame(rows)


def _per_solved(arm: str, share: float) -> str:
    """What an arm must solve to cost less a solved task than base; `share`: its task run's cost over base's."""
    if arm == BASE.label:
        return DASH
    if share > 1:
        return f"dearer unless it solves {plain(share)} times as many as base"
    return f"cheaper while it solves over {percent(share)} of what base solves"


def published_in_words(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of `labkit.analysis.recost.recost` as they are read; a dash where an input was not published."""
    return pd.DataFrame(
        [
            {
                "claim": row["id"],
                "what": row["what"],
                "a request": usd(row["usd_per_request"]),
                "one that met its goal": usd(row["usd_per_good"]),
                "per million generated": usd(row["usd_per_m_generated"]),
                "not published": row["missing"] or DASH,
            }
            for row in rows.to_dict("records")
        ]
    )


def now_in_words(row: Row) -> str:
    """`$0.0012 in prefix+spec`: what a task run of this arm costs now."""
    return f"{usd(row['usd_per_task'])} in {row['arm']}"
