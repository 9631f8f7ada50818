"""What agents got done: tasks solved, and the time that a solved one took. Failures stay in the denominator.

An arm that gives up early looks fast. So the time per *solved* task is all the time that was spent, failed attempts
included, over the tasks that were solved; with none solved it does not exist.

An arm whose engine dies is given up. What it was still to try is not solved either, or the arm would be judged by what
came before the death alone; such an attempt has no time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.analysis.arms import in_order
from labkit.analysis.tables import typed_frame
from labkit.core.columns import column
from labkit.core.records import Record

NEVER_RAN = "never ran"
"""Why an attempt stopped that an arm was given up before."""


@dataclass(frozen=True, kw_only=True)
class OutcomeRow(Record):
    """One attempt at one task, as its `outcome` event tells."""

    arm: str = column("string", "", "label of the arm")
    task: str = column("string", "", "task")
    attempt: int = column("int64", "", "which attempt at it in this arm, from 0; the same seeds in every arm")
    reached: bool = column("bool", "", "whether the hidden check passed; a failed attempt did not reach its goal")
    stop_reason: str = column("string", "", "finished, steps, tokens, seconds, error or never ran")
    steps: int = column("int64", "", "LLM calls")
    seconds: float | None = column(
        "float64", "s", "from the first request to the answer, tools included; null: never ran", nullable=True
    )


@dataclass(frozen=True, kw_only=True)
class SolvedRow(Record):
    """All attempts of one arm."""

    arm: str = column("string", "", "label of the arm")
    n_tasks: int = column("int64", "", "distinct tasks")
    n_attempts: int = column("int64", "", "attempts, failed, truncated and never run ones included")
    n_solved: int = column("int64", "", "attempts whose hidden check passed")
    success_rate: float = column("float64", "", "solved / attempts, 0 to 1")
    attempt_s: float = column("float64", "s", "mean time of an attempt that ran, tools included")
    solved_s: float | None = column("float64", "s", "all time / solved attempts; null when none", nullable=True)
    n_cut: int = column("int64", "", "attempts that met a limit or an error")
    n_never_ran: int = column("int64", "", "attempts that the arm was given up before, since its engine died")


def outcomes(events: Iterable[Mapping[str, Any]], arm: str = "", task: str = "") -> pd.DataFrame:
    """One row per judged `outcome` event, columns as OutcomeRow declares them.

    Attempts of a live run that several arms served are left out.

    `arm`, `task`: of a run with a single attempt, whose event does not say them.
    """
    rows = [
        OutcomeRow(
            arm=event.get("arm", arm),
            task=event.get("task", task),
            attempt=event.get("attempt", 0),
            reached=bool(event["reached"]),
            stop_reason=event["stop_reason"],
            steps=event["steps"],
            seconds=event["seconds"],
        )
        for event in events
        if event["type"] == "outcome" and not event.get("toggled")
    ]
    return typed_frame(OutcomeRow, rows)


def solved(table: pd.DataFrame) -> pd.DataFrame:
    """One row per arm of an `outcomes` table, in the order of ARMS; columns as SolvedRow declares them."""
    return typed_frame(SolvedRow, [_row(arm, table[table["arm"] == arm]) for arm in in_order(table["arm"])])


def _row(arm: str, attempts: pd.DataFrame) -> SolvedRow:
    n, seconds = int(attempts["reached"].sum()), float(attempts["seconds"].sum())
    ran = attempts[attempts["stop_reason"] != NEVER_RAN]
    return SolvedRow(
        arm=arm,
        n_tasks=attempts["task"].nunique(),
        n_attempts=len(attempts),
        n_solved=n,
        success_rate=n / len(attempts),
        attempt_s=float(ran["seconds"].mean()),
        solved_s=seconds / n if n else None,
        n_cut=int((ran["stop_reason"] != "finished").sum()),
        n_never_ran=len(attempts) - len(ran),
    )


def pairs(table: pd.DataFrame, against: str, arm: str) -> tuple[list[bool], list[bool]]:
    """Success of `against` and of `arm` at the same tasks with the same seeds: two lists of one length."""
    both = paired(table, against, arm)
    return [bool(value) for value in both[(against, "reached")]], [bool(value) for value in both[(arm, "reached")]]


def paired(table: pd.DataFrame, against: str, arm: str) -> pd.DataFrame:
    """The pairs by task and attempt: columns (arm, `reached`) and (arm, `ran`). One that neither arm ran is no pair."""
    told = table.assign(ran=table["stop_reason"] != NEVER_RAN)[["task", "attempt", "arm", "reached", "ran"]]
    of_arm = [told[told["arm"] == label].set_index(["task", "attempt"]) for label in (against, arm)]
    both = pd.concat([each[["reached", "ran"]] for each in of_arm], axis=1, join="inner", keys=[against, arm])
    return both[both[(against, "ran")] | both[(arm, "ran")]]
