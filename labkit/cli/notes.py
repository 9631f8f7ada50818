"""What there is to say of how a run went, a sentence a line: its note, and deaths of engines that the note leaves out.

A run that was stopped has no verdict on its arms, and yet an engine may have died in it: the events know.
"""

from __future__ import annotations

from collections.abc import Iterator

from labkit.analysis.client_bound import client_bound
from labkit.experiments.bystanders import MANY_CORES
from labkit.experiments.so_far import since_resumed
from labkit.store.runs import Run


def notes(run: Run) -> list[str]:
    """The lines, each once."""
    note = run.info.note
    return list(dict.fromkeys((*note.splitlines(), *_deaths(run, note), *_disturbed(run))))


def client_line(run: Run) -> str:
    """What the client says of itself: median and p99 of what delays its stamps, and its CPU."""
    verdict = client_bound(run.steps(), run.chunks(), run.samples())
    return f"{'client-bound: ' if verdict.bound else ''}{verdict.described()} (median / p99)"


def _disturbed(run: Run) -> Iterator[str]:
    """Of a run that was stopped: the verdict on any other has this in its note."""
    if run.info.state != "cancelled":
        return
    taken = {e["arm"]: e["cores"] for e in run.events() if e["type"] == "bystanders" and (e["cores"] or 0) > MANY_CORES}
    if taken:
        most = max(taken.values())
        yield f"{', '.join(taken)}: other processes kept up to {most:.1f} cores busy: times are too long."


def _deaths(run: Run, note: str) -> Iterator[str]:
    died: dict[str, list[str]] = {}
    for event in since_resumed(run.events()):
        if event["type"] == "engine_died" and event["message"] not in note:
            died.setdefault(event["message"], []).append(event["arm"])
    for message, arms in died.items():
        yield f"{', '.join(dict.fromkeys(arms))}: {message.rstrip('.')}."
