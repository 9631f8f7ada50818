"""What company does to the cost of a token: several agents at once share the machine, and so its hour."""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Company(NamedTuple):
    """So many agents at once in this arm, and what a generated token costs then, over one agent's."""

    arm: str
    agents: int
    over_one: float


def company_of(table: pd.DataFrame, arm: str) -> Company | None:
    """The most agents that were measured; None where there is no second number of agents.

    `table`: of `in_company`. Where `arm` was not under load, the first arm that was.
    """
    known = table[table["relative"].notna()]
    if known.empty:
        return None
    rows = known[known["arm"] == (arm if (known["arm"] == arm).any() else known["arm"].iloc[0])]
    last = rows.iloc[-1]
    return Company(str(last["arm"]), int(last["agents"]), float(last["relative"])) if len(rows) > 1 else None


def cheaper_in_company(table: pd.DataFrame, arm: str) -> Outcome:
    """Whether a generated token gets cheaper with more agents at once."""
    found = company_of(table, arm)
    if found is None:
        return Outcome(None, "no arm of the run was measured with several numbers of agents")
    rows = table[table["arm"] == found.arm]
    one, many = rows.iloc[0], rows[rows["agents"] == found.agents].iloc[0]
    if missing(one["usd_per_m_generated"]):
        return Outcome(None, "one agent alone was not measured")
    costs = [usd(row["usd_per_m_generated"]) for row in (many, one)]
    saw = (
        f"with {found.agents} agents at once a million generated tokens cost {costs[0]} against {costs[1]} "
        f"with {int(one['agents'])} under {found.arm}, {times(found.over_one)} of it "
        f"(n = {int(many['n_steps'])} and {int(one['n_steps'])} steps)"
    )
    return Outcome(found.over_one < 1, saw)
