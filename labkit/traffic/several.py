"""Several recordings in one file: what a run's folder keeps of all that it replayed, or that its agents did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader


def split(rows: Iterable[Mapping[str, Any]]) -> list[Recording]:
    """The recordings in the lines of a run's file, where each begins with its header. What cannot be read is left out.

    So is one with a step missing, as when agents that worked at once have written their lines at once.
    """
    found: list[tuple[Mapping[str, Any], list[Mapping[str, Any]]]] = []
    for row in rows:
        if row.get("type") == "recording":
            found.append((row, []))
        elif found:
            found[-1][1].append(row)
    whole = (_whole(header, steps) for header, steps in found)
    return [recording for recording in whole if recording is not None]


def _whole(header: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> Recording | None:
    if not steps or [step.get("turn") for step in steps] != list(range(1, len(steps) + 1)):
        return None
    try:
        made = tuple(RecordedStep.from_dict(dict(step)) for step in steps)
        return Recording(header=RecordingHeader.from_dict(dict(header)), steps=made)
    except TypeError:
        return None
