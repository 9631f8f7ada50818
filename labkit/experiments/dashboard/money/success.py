"""Whether the cheaper arm solves as much, where a run was made to confirm that: a cost alone would praise giving up."""

from __future__ import annotations

from labkit.analysis.confirmation import confirmation, in_words
from labkit.analysis.outcomes import outcomes
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.experiments.dashboard.opened import Opened


def verdict(opened: Opened) -> str:
    """`Prefix against base: not worse: any loss is below 10 points (...).`; empty for a run that did not ask."""
    judged = [event for event in opened.events if event["type"] == "outcome" and event.get("reached") is not None]
    if opened.info.experiment != "confirm" or not judged:
        return ""
    asked = ConfirmAsked.from_dict(opened.info.asked)
    table = outcomes(judged)
    words = in_words(confirmation(table, asked.against, asked.arm, asked.margin), asked.against, asked.arm, table)
    return f"Does it solve as much? {words}."
