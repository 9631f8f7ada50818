"""What a run found that did not compare layers: what drafters gain, and what live agents got done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from labkit.analysis.drafter_gain import gain_table
from labkit.analysis.outcomes import outcomes, solved
from labkit.core.records import RunInfo
from labkit.experiments.dashboard.compare.gain_words import Subject
from labkit.experiments.report.english import counted, records


def drafters(steps: pd.DataFrame) -> Iterator[Subject]:
    """Each way to draft against none, end to end over all steps that finished in both."""
    for row in records(gain_table(steps)):
        if row["by"] == "all" and not pd.isna(row["gain"]):
            values = {"metric": "e2e_s", "n_requests": row["n_pairs"], "smallest_gain": None}
            yield Subject(name=f"the drafter {row['method']}", row={**row, **values})


def solved_in_words(info: RunInfo, events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """`prefix solved 3 of 5 attempts`, for each arm whose attempts were judged."""
    for row in records(attempts(info, events)):
        yield f"{row['arm'] or 'a script'} solved {row['n_solved']} of {counted(row['n_attempts'], 'attempt')}"


def attempts(info: RunInfo, events: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """What was judged, one row per arm; columns as labkit.analysis.outcomes.SolvedRow declares them."""
    judged = [event for event in events if event["type"] == "outcome" and event.get("reached") is not None]
    return solved(outcomes(judged, str(info.asked.get("arm", "")), str(info.asked.get("task", ""))))
