"""After drafts were measured: what the run says to each prediction, as a clause with its numbers for `told`.

What a drafter guesses is about other tasks as well, and is told from MIN_TASKS tasks on, where the interval is proven.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from labkit.analysis.acceptance import acceptance
from labkit.analysis.draft_promise import expected_length, given_before
from labkit.analysis.drafters import by_method
from labkit.analysis.effect_words import MIN_TASKS
from labkit.analysis.format import missing, percent, plain
from labkit.analysis.ratios import ratio_of_sums
from labkit.analysis.tables import is_finished, measured, numbers
from labkit.experiments.lessons.outcome import Outcome, unmeasured
from labkit.experiments.report.english import counted, listed, records

NEAR = 0.05
"""Shares this close to each other are not told apart."""
_FORMS = ["method", "says", "n", "n_tasks", "drafted", "a_round", "rate", "rate_low", "rate_high", "length"]


def guessed(drafters: pd.DataFrame, better: str = "draft_model", other: str = "ngram") -> Outcome:
    """Whether one drafter has a larger share accepted than another; from `drafter_table`."""
    rows = {row["method"]: row for row in records(drafters[drafters["by"] == "all"])}
    saw = listed(
        f"{name} had {percent(row['rate'])} of {row['drafted']:,} drafted tokens accepted, "
        f"{plain(row['length'])} tokens a round ({n_of(row['n'], 'step', row)})"
        for name, row in rows.items()
    )
    absent = [name for name in (better, other) if name not in rows]
    if absent:
        return unmeasured("; ".join([f"nothing was drafted by {listed(absent)}", *filter(None, [saw])]))
    return _compared(rows[better], rows[other], saw)


def n_of(n: int, of: str, row: Mapping[str, Any]) -> str:
    """`n = 30 steps of 3 tasks`."""
    return f"n = {counted(n, of)} of {counted(int(row['n_tasks']), 'task')}"


def _compared(one: Mapping[str, Any], other: Mapping[str, Any], saw: str) -> Outcome:
    """Whether one rate is larger, also for other tasks: nothing is told of fewer than MIN_TASKS."""
    if min(one["n_tasks"], other["n_tasks"]) < MIN_TASKS:
        return Outcome(None, f"{saw}; what holds for other tasks is told from {MIN_TASKS} tasks on")
    return Outcome(_larger(one, other), saw)


def _larger(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool | None:
    """Whether one rate is larger, by intervals that do not touch; False, too, where all of both lies within NEAR."""
    ends = [row[name] for row in (one, other) for name in ("rate_low", "rate_high")]
    if any(missing(end) for end in ends):
        return None
    if one["rate_low"] > other["rate_high"]:
        return True
    return False if max(ends) - min(ends) <= NEAR or one["rate_high"] < other["rate_low"] else None


def of_all(table: pd.DataFrame, method: str, known: str) -> pd.DataFrame:
    """A drafter's row on all steps, where this column of it was measured; of `drafter_table` or `round_table`."""
    return table[(table["by"] == "all") & (table["method"] == method) & table[known].notna()]


def forms(steps: pd.DataFrame) -> pd.DataFrame:
    """Acceptance of replies that call a tool, and of the others, with the rate's 95 % interval; columns as _FORMS.

    `a_round`: tokens proposed in a round; `length`: tokens that it yields.
    """
    kept = measured(steps)
    kept = kept[is_finished(kept) & (kept["mode"] != "pinned")]
    rows = []
    for method, mine in by_method(kept):
        calls = mine["tool_name"].notna()
        for says, some in (("tool call", mine[calls]), ("free text", mine[~calls])):
            of = acceptance(some)
            if of.n:
                a_round = of.drafted / of.drafts if of.drafted is not None and of.drafts else None
                span = ratio_of_sums(
                    numbers(some, "accepted_tokens"), numbers(some, "drafted_tokens"), some["task"].tolist()
                )
                low, high = (None if end is None else min(max(end, 0.0), 1.0) for end in (span.low, span.high))
                rows.append((method, says, of.n, span.n_tasks, of.drafted, a_round, of.rate, low, high, of.length))
    return pd.DataFrame(rows, columns=_FORMS)


def calls_guess_better(table: pd.DataFrame, method: str) -> Outcome:
    """Whether a drafter has a larger share accepted in tool calls than in free text; from `forms`."""
    rows = {row["says"]: row for row in records(table[table["method"] == method]) if not missing(row["rate"])}
    saw = listed(
        f"{percent(row['rate'])} of {row['drafted']:,} tokens that {method} drafted for a {says} were accepted "
        f"({n_of(row['n'], 'step', row)})"
        for says, row in rows.items()
    )
    if len(rows) < 2:
        return unmeasured(saw or f"{method} drafted nothing")
    return _compared(rows["tool call"], rows["free text"], saw)


def one_chance(positions: pd.DataFrame, drafters: pd.DataFrame, method: str) -> Outcome:
    """Whether each position of a draft was accepted with one chance, given the one before, in this run.

    `drafters`: of `drafter_table`.
    """
    rows = records(of_all(drafters, method, "length"))
    mine = given_before(positions[positions["method"] == method])
    given = [float(share) for share in mine["given"].dropna()]
    if len(given) < 2 or not rows:
        return unmeasured(f"the positions of {method} were not counted")
    told = listed(percent(share) for share in given)
    promised = expected_length(given[0], len(mine))
    saw = (
        f"in this run, of the tokens of {method} whose token before was accepted, {told} were accepted at positions 1 "
        f"to {len(given)} ({n_of(int(mine['drafts'].iloc[0]), 'round', rows[0])}); with the first share alone a "
        f"round would yield {plain(promised)} tokens, and it yielded {plain(rows[0]['length'])}"
    )
    return Outcome(max(given) - min(given) <= 2 * NEAR, saw)


def later_is_better(drafters: pd.DataFrame, method: str) -> Outcome:
    """Whether more is accepted in the last group of turns than in the first; from `drafter_table`."""
    rows = records(drafters[(drafters["by"] == "turn") & (drafters["method"] == method) & drafters["rate"].notna()])
    saw = listed(_turns(row) for row in rows)
    if len(rows) < 2:
        return unmeasured(saw or f"{method} drafted nothing")
    return _compared(rows[-1], rows[0], saw)


def _turns(row: Mapping[str, Any]) -> str:
    return (
        f"{row['method']} had {percent(row['rate'])} accepted in turns {row['group']}{_between(row)}, "
        f"{plain(row['length'])} tokens a round ({n_of(row['n'], 'step', row)})"
    )


def _between(row: Mapping[str, Any]) -> str:
    """` [51 %, 64 %]`: the rate's interval, where there is one that is proven."""
    return (
        ""
        if missing(row["rate_low"]) or row["n_tasks"] < MIN_TASKS
        else f" [{percent(row['rate_low'])}, {percent(row['rate_high'])}]"
    )
