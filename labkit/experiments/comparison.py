"""Two runs side by side: what differed between them, whether their requests are the same, and what one gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from labkit.analysis.comparison import compare
from labkit.analysis.outcomes import outcomes, solved
from labkit.analysis.same_requests import SameRow, same_requests
from labkit.core.records import RunInfo
from labkit.experiments.cold import ColdEvidence, Reset, evidence, resets
from labkit.experiments.compared import compared
from labkit.store.differences import run_differences
from labkit.store.fingerprint import Difference
from labkit.store.runs import Run

_NOT_A_QUESTION = ("job", "keep")


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two runs: `steps` and `chunks` that count.

    `solved`: success of its agents, one row per arm; empty where nobody was asked to solve.
    """

    run: Run
    steps: pd.DataFrame
    chunks: pd.DataFrame
    cold: list[ColdEvidence]
    resets: list[Reset]
    solved: pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """`table`: ComparisonRow. `fingerprint`, `asked`: what differs, heaviest first; `requests`: what may be paired."""

    a: Side
    b: Side
    fingerprint: list[Difference]
    asked: list[Difference]
    requests: list[SameRow]
    table: pd.DataFrame

    @property
    def paired(self) -> bool:
        """Whether any request is paired."""
        return any(row.same for row in self.requests)


def compare_runs(a: Run, b: Run) -> RunComparison:
    """Compare run B with run A, whatever they are of."""
    return compare_sides(*(side_of(run, run.steps(), run.chunks(), run.events()) for run in (a, b)))


def compare_sides(one: Side, two: Side) -> RunComparison:
    """The same of runs that were read already."""
    a, b = one.run.info, two.run.info
    hashes = (_hashes(a.fingerprint), _hashes(b.fingerprint))
    return RunComparison(
        a=one,
        b=two,
        fingerprint=run_differences(a.fingerprint, b.fingerprint),
        asked=_asked(a, b),
        requests=same_requests(one.steps, two.steps, *hashes),
        table=compare(one.steps, one.chunks, two.steps, two.chunks, *hashes),
    )


def side_of(run: Run, steps: pd.DataFrame, chunks: pd.DataFrame, events: Sequence[Mapping[str, Any]]) -> Side:
    """A side from what the run's folder holds: all its steps, chunks and events."""
    asked = run.info.asked
    judged = [event for event in events if event["type"] == "outcome" and event.get("reached") is not None]
    attempts = outcomes(judged, str(asked.get("arm", "")), str(asked.get("task", "")))
    return Side(
        run=run,
        steps=compared(run.info, steps),
        chunks=compared(run.info, chunks),
        cold=evidence(steps, events),
        resets=resets(events),
        solved=solved(attempts),
    )


def _hashes(fingerprint: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in (fingerprint.get("recordings") or {}).items()}


def _asked(a: RunInfo, b: RunInfo) -> list[Difference]:
    """What the two runs were asked differently, the experiment first."""
    kept = [{k: v for k, v in info.asked.items() if k not in _NOT_A_QUESTION} for info in (a, b)]
    one, two = ({"experiment": info.experiment, **asked} for info, asked in zip((a, b), kept, strict=True))
    names = list(dict.fromkeys([*one, *two]))
    return [Difference(name, one.get(name), two.get(name)) for name in names if one.get(name) != two.get(name)]
