"""What company does to the cost of a token: several agents at once share the machine, and so its hour."""

from __future__ import annotations

from typing import Any

import pandas as pd

from labkit.analysis.format import count, missing, seconds, times, usd
from labkit.core.arms import ARMS
from labkit.experiments.lessons.outcome import Outcome


def in_company(costs: pd.DataFrame) -> pd.DataFrame:
    """One row per arm and number of agents, fewest first: the cost of a million generated tokens, and over one agent's.

    `costs`: of a run under load, columns as CostRow declares them. Columns arm, agents, n_steps, seconds,
    generated_tokens, usd_per_m_generated, and `relative`: 1 for the fewest agents of the arm; NaN where not measured.
    """
    kept = costs[["arm", "agents", "n_steps", "seconds", "generated_tokens", "usd_per_m_generated"]]
    place = {arm.label: n for n, arm in enumerate(ARMS)}
    ordered = kept.sort_values(["arm", "agents"], key=lambda c: c.map(place) if c.name == "arm" else c)
    first = ordered.groupby("arm")["usd_per_m_generated"].transform("first")
    return ordered.assign(relative=ordered["usd_per_m_generated"] / first).reset_index(drop=True)


def in_words(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of `in_company` as they are read."""
    rows: list[Any] = table.to_dict("records")
    return pd.DataFrame(
        [
            {
                "arm": row["arm"],
                "agents at once": int(row["agents"]),
                "time": seconds(row["seconds"]),
                "generated": count(row["generated_tokens"]),
                "per million generated": usd(row["usd_per_m_generated"]),
                "over one agent's": times(row["relative"]),
                "steps": int(row["n_steps"]),
            }
            for row in rows
        ]
    )


def factor(table: pd.DataFrame, arm: str) -> tuple[int, float] | None:
    """The most agents that were measured and what a token costs then, over one agent's; None where nothing tells.

    `arm`: where it was not under load, the first arm that was.
    """
    known = table[table["relative"].notna()]
    if known.empty:
        return None
    rows = known[known["arm"] == (arm if (known["arm"] == arm).any() else known["arm"].iloc[0])]
    last = rows.iloc[-1]
    return (int(last["agents"]), float(last["relative"])) if len(rows) > 1 else None


def cheaper_in_company(table: pd.DataFrame, arm: str) -> Outcome:
    """Whether a generated token gets cheaper with more agents at once."""
    found = factor(table, arm)
    if found is None:
        return Outcome(None, "no arm of the run was measured with several numbers of agents")
    agents, over_one = found
    rows = table[table["arm"] == (arm if (table["arm"] == arm).any() else table["arm"].iloc[0])]
    one, many = rows.iloc[0], rows[rows["agents"] == agents].iloc[0]
    if missing(one["usd_per_m_generated"]):
        return Outcome(None, "one agent alone was not measured")
    saw = (
        f"with {agents} agents at once a million generated tokens cost {usd(many['usd_per_m_generated'])} against "
        f"{usd(one['usd_per_m_generated'])} with {int(one['agents'])} under {one['arm']}, {times(over_one)} of it "
        f"(n = {int(many['n_steps'])} and {int(one['n_steps'])} steps)"
    )
    return Outcome(over_one < 1, saw)
