"""Sessions of one cell: agents' passes over a task. One has failed when a request of it has failed.

Whether the task's hidden check passed is another question, which a replay cannot ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labkit.store.exports.files import known
from labkit.store.exports.llmd.performance import statistics, summed
from labkit.store.exports.requests import Request, by_session


def session_performance(mine: Sequence[Request]) -> dict[str, Any]:
    """Counts of sessions and requests, and distributions over the sessions without a failed request."""
    sessions = list(by_session(mine).values())
    good = [s for s in sessions if all(r.problem is None for r in s)]
    spans = (max(r.t_over for r in s) - min(r.step.t_send for r in s) for s in good)
    tokens = {
        kind: [n for s in good if (n := summed(s, name)) is not None]
        for kind, name in (("input", "prompt_tokens"), ("output", "completion_tokens"))
    }
    values = {
        "total": len(sessions),
        "succeeded": len(good),
        "failed": len(sessions) - len(good),
        "total_events": len(mine),
        "total_events_completed": sum(r.problem is None for r in mine),
        "session_duration": statistics(spans, "s"),
        "events_per_session": statistics((len(s) for s in sessions), "count"),
        "input_tokens_per_session": statistics(tokens["input"], "count"),
        "output_tokens_per_session": statistics(tokens["output"], "count"),
    }
    return known(values)
