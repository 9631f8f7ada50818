"""What a run cost: per task, per solved task, per million tokens, at the load that was measured.

    usd = usd_per_hour / 3600 * seconds          seconds: labkit.analysis.windows, summed
    per task = usd / task runs                   failed and truncated ones included
    per solved task = usd / task runs solved     null when none was, or when nobody checked

The whole machine is paid for, whatever its GPUs did meanwhile. One agent on an idle machine leaves it mostly unused, so
cost per token is high there: it says what this run cost and not what the machine can do. Three denominators are given
for a million tokens, since under prefix caching they differ by a factor: prompt tokens, those of them that were
computed, and generated tokens. Each takes the whole cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.hourly import hourly
from labkit.analysis.stalls import lane
from labkit.analysis.tables import is_finished, measured, numbers, typed_frame
from labkit.analysis.windows import windows
from labkit.core.columns import column
from labkit.core.conditions import agents_of, toggled_from
from labkit.core.prices import Price
from labkit.core.records import Record

_ROW = ["arm", "condition", "cache"]
_TASK_RUN = ["arm", "task", "agent", "repeat"]
_MILLION = 1e6


@dataclass(frozen=True, kw_only=True)
class CostRow(Record):
    """One arm under one condition at one price."""

    arm: str = column("string", "", "label of the arm")
    condition: str = column("string", "", "what was varied besides the arm; empty when nothing")
    cache: str = column("string", "", "`cold` or `warm`")
    price: str = column("string", "", "name of the price")
    usd_per_hour: float = column("float64", "USD/h", "an hour of work on the whole machine, all its GPUs")
    agents: int = column("int64", "", "agents at a time, the most that one pass had: the load")
    n_steps: int = column("int64", "", "steps sent, failed ones included")
    n_failed: int = column("int64", "", "of these, without a whole answer")
    n_tasks: int = column("int64", "", "task runs: one pass of one agent over one recording or task, however it ended")
    n_solved: int | None = column("int64", "", "task runs whose hidden check passed; null: not checked", nullable=True)
    seconds: float = column("float64", "s", "first send to last end of the passes, waiting for tools included")
    usd: float = column("float64", "USD", "cost of these seconds")
    usd_per_task: float | None = column(
        "float64", "USD", "per task run, failed and truncated ones included; null: no step told its end", nullable=True
    )
    usd_per_solved: float | None = column(
        "float64", "USD", "per solved task run; null: none was, or not checked", nullable=True
    )
    prompt_tokens: int | None = column("int64", "tokens", "prompt tokens; null: some step did not say", nullable=True)
    computed_tokens: int | None = column("int64", "tokens", "prompt tokens that were computed", nullable=True)
    generated_tokens: int | None = column("int64", "tokens", "generated tokens", nullable=True)
    usd_per_m_prompt: float | None = column("float64", "USD", "whole cost per million prompt tokens", nullable=True)
    usd_per_m_computed: float | None = column(
        "float64", "USD", "whole cost per million prompt tokens computed", nullable=True
    )
    usd_per_m_generated: float | None = column(
        "float64", "USD", "whole cost per million generated tokens", nullable=True
    )
    joules: float | None = column("float64", "J", "energy of all devices, idle power included", nullable=True)
    joules_per_task: float | None = column("float64", "J", "energy per task run", nullable=True)
    joules_per_solved: float | None = column("float64", "J", "energy per solved task run", nullable=True)


def cost_table(
    steps: pd.DataFrame,
    prices: Mapping[str, Price],
    joules: pd.DataFrame | None = None,
    solved: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """One row for each price, arm, condition and cache state; columns as CostRow declares them.

    `joules`: as labkit.analysis.energy gives it (`group_joules` where an arm has several conditions), or None.
    `solved`: columns arm, task, agent, repeat, solved; None: nobody checked. A task run that is missing in it makes its
    row's `n_solved` null.
    """
    kept, spans, rows = measured(steps), windows(steps), []
    joules = _told_apart(kept, joules)
    for name, price in prices.items():
        for arm in in_order(kept["arm"]):
            for (_, condition, cache), group in kept[kept["arm"] == arm].groupby(_ROW, sort=True):
                seconds = sum(
                    span.seconds
                    for key, of_key in spans.items()
                    if key[:3] == (arm, condition, cache)
                    for span in of_key
                )
                rows.append(_row(name, price, group, seconds, joules, solved))
    return typed_frame(CostRow, rows)


def _told_apart(steps: pd.DataFrame, joules: pd.DataFrame | None) -> pd.DataFrame | None:
    """`joules`, unless it sums over conditions or cache states that are rows of their own here."""
    if joules is None or set(_ROW) <= set(joules.columns):
        return joules
    return joules if len(steps[_ROW].drop_duplicates()) == steps["arm"].nunique() else None


def _row(
    name: str,
    price: Price,
    steps: pd.DataFrame,
    seconds: float,
    joules: pd.DataFrame | None,
    solved: pd.DataFrame | None,
) -> CostRow:
    first, done = steps.iloc[0], steps[is_finished(steps)]
    runs = steps[[*_TASK_RUN, "recording"]].drop_duplicates()
    an_hour = hourly(price).total
    usd, energy = an_hour / 3600 * seconds, _joules(steps, joules)
    n_solved = None if toggled_from(str(first["condition"])) else _solved(runs, solved)  # nobody judged it by itself
    prompt, generated = _tokens(numbers(done, "prompt_tokens")), _tokens(numbers(done, "completion_tokens"))
    computed = _tokens(numbers(done, "prompt_tokens") - numbers(done, "cached_tokens"))
    return CostRow(
        arm=str(first["arm"]),
        condition=str(first["condition"]),
        cache=str(first["cache"]),
        price=name,
        usd_per_hour=an_hour,
        agents=_agents(steps),
        n_steps=len(steps),
        n_failed=len(steps) - len(done),
        n_tasks=len(runs),
        n_solved=n_solved,
        seconds=seconds,
        usd=usd,
        usd_per_task=usd / len(runs) if seconds > 0 else None,
        usd_per_solved=_per(usd, n_solved),
        prompt_tokens=prompt,
        computed_tokens=computed,
        generated_tokens=generated,
        usd_per_m_prompt=_per(usd * _MILLION, prompt),
        usd_per_m_computed=_per(usd * _MILLION, computed),
        usd_per_m_generated=_per(usd * _MILLION, generated),
        joules=energy,
        joules_per_task=_per(energy, len(runs)),
        joules_per_solved=_per(energy, n_solved),
    )


def _agents(steps: pd.DataFrame) -> int:
    """As the condition says; else the most in one pass, where an agent's further recordings are no further agents."""
    said = agents_of(str(steps["condition"].iloc[0]))
    if said is not None:
        return said
    lanes = steps.assign(lane=lane(steps["agent"]))
    return int(lanes.groupby(["task", "recording", "repeat"])["lane"].nunique().max())


def _tokens(counts: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int | None:
    """The sum, when every finished step told its count: a part of the tokens would make each of them look dear."""
    return round(float(counts.sum())) if counts.size and not np.isnan(counts).any() else None


def _per(total: float | None, count: int | None) -> float | None:
    return total / count if total is not None and count else None


def _solved(runs: pd.DataFrame, solved: pd.DataFrame | None) -> int | None:
    if solved is None:
        return None
    known = runs.merge(solved.drop_duplicates(_TASK_RUN), on=_TASK_RUN, how="left")["solved"]
    return None if known.isna().any() else int(known.astype(bool).sum())


def _joules(steps: pd.DataFrame, joules: pd.DataFrame | None) -> float | None:
    """The energy of this row's repeats; null when a part of it was not measured, or cannot be told apart."""
    if joules is None or joules.empty:
        return None
    keys = [name for name in _ROW if name in joules]
    wanted = steps[[*keys, "repeat"]].drop_duplicates()
    found = wanted.merge(joules, on=[*keys, "repeat"], how="left")["joules"]
    return None if found.isna().any() else float(found.sum())
