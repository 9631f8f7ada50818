"""What is found where no two arms sent the same requests: what each got done, and no ratio between any two.

Steps of live agents have turn numbers in common and nothing else, so that one arm's may be short for want of trying:
what counts is how many attempts reached their goal, and the time that one took.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labkit.analysis.format import seconds
from labkit.experiments.dashboard.compare.other_gains import attempts
from labkit.experiments.dashboard.live.finding_caveats import failed_under, toggled
from labkit.experiments.dashboard.live.two_arms import cold_sent
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.report.english import counted, listed, records
from labkit.plots.theme import arm_order

_LOAD = "Under load each agent takes what comes, so no two steps are a pair: the Capacity page says what arms serve."
_AGENTS = "Each agent went its own way, so no two steps are a pair"
_CONFIRM = "Few attempts say little: `labkit confirm` tells whether an arm solves as much."


def own_ways_said(opened: Opened, beside: Opened | None = None) -> tuple[str, tuple[str, ...]]:
    """The finding in one sentence, and what limits it. `beside`: the run that this one repeats."""
    runs = [(opened, ""), *([(beside, " in the run beside")] if beside is not None else [])]
    limits = [_failed(runs), toggled(opened)]
    if "agents" not in {run.own_ways for run, _ in runs}:
        return _LOAD, tuple(filter(None, limits))
    done = [words for run, where in runs for words in _done(run, where)]
    said = f"{_AGENTS}: {listed(done)}." if done else f"{_AGENTS}, and no attempt has been judged yet."
    return said, tuple(filter(None, [*limits, _CONFIRM if done else ""]))


def _done(run: Opened, where: str) -> Iterator[str]:
    """`prefix solved 3 of 5 attempts (21.0 s each)`, for each arm."""
    for row in records(attempts(run.info, run.events)):
        took = f" ({seconds(row['attempt_s'])} each)" if row["attempt_s"] is not None else ""
        n = counted(row["n_attempts"], "attempt")
        yield f"{row['arm'] or 'a script'} solved {row['n_solved']} of {n}{where}{took}"


def _failed(runs: list[tuple[Any, str]]) -> str:
    told = [
        f"{n} under {arm}{where}"
        for run, where in runs
        for arm in arm_order(cold_sent(run)["arm"])
        if (n := failed_under(run, arm))
    ]
    return f"Failed steps: {listed(told)}." if told else ""
