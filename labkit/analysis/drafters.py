"""Drafters side by side: how much of what each one proposes is accepted, by kind of step and by depth of turn.

A drafter is told by the condition of its rows, `method=NAME`. Rates are token-weighted (see `acceptance`), their
intervals clustered by task (see `ratios`). Only steps of natural length count: a model that may not stop says what it
never would.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from labkit.analysis.ratios import MIN_STEPS, ratio_of_sums
from labkit.analysis.tables import is_finished, measured, numbers, total_tokens, typed_frame
from labkit.core.columns import column
from labkit.core.conditions import method_of
from labkit.core.records import KINDS, Record

TURNS: tuple[tuple[str, int, int | None], ...] = (("1-5", 1, 5), ("6-20", 6, 20), ("21+", 21, None))
"""Groups of turns: name, first and last turn; None: to the end."""


@dataclass(frozen=True, kw_only=True)
class DrafterRow(Record):
    """One drafter on one group of steps."""

    method: str = column("string", "", "drafter, as the profile names it")
    by: str = column("string", "", "what the group is of: `all`, `kind` or `turn`")
    group: str = column("string", "", "kind of step, or first and last turn; `all` for all")
    n: int = column("int64", "", "steps that reported drafted and accepted tokens")
    n_tasks: int = column("int64", "", "tasks that these steps are of")
    drafts: int | None = column("int64", "", "verification rounds with a draft", nullable=True)
    drafted: int | None = column("int64", "tokens", "draft tokens proposed", nullable=True)
    accepted: int | None = column("int64", "tokens", "draft tokens accepted", nullable=True)
    rate: float | None = column("float64", "", "accepted / proposed, 0 to 1", nullable=True)
    rate_low: float | None = column("float64", "", "95 % interval of the rate, low end", nullable=True)
    rate_high: float | None = column("float64", "", "95 % interval of the rate, high end", nullable=True)
    length: float | None = column(
        "float64", "tokens", "tokens per round with a draft: 1 + accepted / drafts", nullable=True
    )
    length_low: float | None = column("float64", "tokens", "95 % interval of the length, low end", nullable=True)
    length_high: float | None = column("float64", "tokens", "95 % interval of the length, high end", nullable=True)
    over: str = column("string", "", "what the intervals are about: `tasks`, or the steps of few tasks")
    too_few: bool = column("bool", "", f"fewer than {MIN_STEPS} steps: too few to tell")


def drafter_table(steps: pd.DataFrame) -> pd.DataFrame:
    """One row per drafter and group that has a step which reported drafts; columns as DrafterRow declares them."""
    kept = measured(steps)
    kept = kept[is_finished(kept) & (kept["mode"] != "pinned")]
    kept = kept[kept["drafted_tokens"].notna() & kept["accepted_tokens"].notna()]
    rows = [
        _row(method, by, group, some) for method, of in by_method(kept) for by, group, some in groups(of) if len(some)
    ]
    return typed_frame(DrafterRow, rows)


def by_method(steps: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each drafter with its rows, in the order in which they first came; the reference is not one."""
    methods = steps["condition"].map(method_of)
    for method in methods.unique():
        if method:
            yield method, steps[methods == method]


def groups(steps: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """All steps, then by kind in the order of KINDS, then by depth of turn: what it is by, its name, its rows."""
    yield "all", "all", steps
    for kind in KINDS:
        yield "kind", kind, steps[steps["kind"] == kind]
    for name, first, last in TURNS:
        deep = steps["turn"] >= first
        yield "turn", name, steps[deep if last is None else deep & (steps["turn"] <= last)]


def _row(method: str, by: str, group: str, steps: pd.DataFrame) -> DrafterRow:
    drafts, drafted, accepted = (numbers(steps, name) for name in ("drafts", "drafted_tokens", "accepted_tokens"))
    tasks = steps["task"].tolist()
    rate, extra = ratio_of_sums(accepted, drafted, tasks), ratio_of_sums(accepted, drafts, tasks)
    return DrafterRow(
        method=method,
        by=by,
        group=group,
        n=rate.n,
        n_tasks=rate.n_tasks,
        drafts=total_tokens(drafts),
        drafted=total_tokens(drafted),
        accepted=total_tokens(accepted),
        rate=rate.value,
        rate_low=None if rate.low is None else max(0.0, rate.low),
        rate_high=None if rate.high is None else min(1.0, rate.high),
        length=_with_one(extra.value),
        length_low=_with_one(None if extra.low is None else max(0.0, extra.low)),
        length_high=_with_one(extra.high),
        over=rate.over,
        too_few=rate.too_few,
    )


def _with_one(extra: float | None) -> float | None:
    """The token that a round yields in any case, as vLLM counts."""
    return None if extra is None else 1 + extra
