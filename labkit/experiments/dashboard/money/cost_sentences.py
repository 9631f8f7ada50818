"""The cost of a solved task in one sentence, or why it cannot be said; each number with what it was counted over."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.analysis.cost import CostRow
from labkit.analysis.format import usd
from labkit.core.arms import BASE

_CANNOT = "What a solved task costs cannot be said"
_UNCHECKED = f"{_CANNOT}: a replay sends recorded requests, so nobody checked."
_UNJUDGED = f"{_CANNOT}: not every attempt of its agents was judged."


def sentence(rows: Sequence[CostRow], live: bool = False) -> str:
    """`rows`: one for each arm of one load, in the lab's order. Empty without any. `live`: agents decided its steps.

    `A solved task costs $0.0012 under prefix+spec (5 of 6 solved) against $0.0031 under base (6 of 6).`
    """
    if not rows:
        return ""
    known = [row for row in rows if row.n_solved is not None]
    if not known:
        return f"{_UNJUDGED if live else _UNCHECKED} {_per_task(rows)}{'' if live else _uneven(rows)}"
    paid = sorted((row for row in known if row.usd_per_solved is not None), key=lambda row: row.usd_per_solved or 0.0)
    if not paid:
        return _nobody(known)
    none = [row for row in known if row.usd_per_solved is None]
    never = f" Under {_listed([row.arm for row in none])} nothing was solved, so there is no such cost." if none else ""
    best, *rest = paid
    against = next((row for row in rest if row.arm == BASE.label), rest[-1] if rest else None)
    versus = f" against {_solved(against)}" if against else ""
    return f"A solved task costs {_solved(best)}{versus}.{never}"


def _solved(row: CostRow) -> str:
    return f"{usd(row.usd_per_solved)} under {row.arm} ({row.n_solved} of {row.n_tasks} task runs solved)"


def _nobody(rows: Sequence[CostRow]) -> str:
    spent, tried = sum(row.usd for row in rows), sum(row.n_tasks for row in rows)
    return (
        f"Nothing was solved in {tried} task run{'s' * (tried != 1)}, so a solved task has no cost, "
        f"however much was spent ({usd(spent)}). {_per_task(rows)}"
    )


def _per_task(rows: Sequence[CostRow]) -> str:
    known = [row for row in rows if row.usd_per_task is not None]
    if not known:
        return "What a task run costs is not known: no step told when it ended."
    best, *rest = sorted(known, key=lambda row: row.usd_per_task or 0.0)
    against = next((row for row in rest if row.arm == BASE.label), rest[-1] if rest else None)
    versus = f" against {_task(against)}" if against else ""
    return f"A task run costs {_task(best)}{versus}."


def _uneven(rows: Sequence[CostRow]) -> str:
    """Of a replay that was cut short in some arm: it did less work there."""
    steps = [row.n_steps / row.n_tasks for row in rows]
    if max(steps) - min(steps) < 1e-9:
        return ""
    return f" Task runs differ in length ({min(steps):.1f} to {max(steps):.1f} steps): do not compare their costs."


def _task(row: CostRow) -> str:
    return f"{usd(row.usd_per_task)} under {row.arm} (n {row.n_tasks})"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
