"""A run keeps what it replays: its folder is read elsewhere, where the recording is not, or another of its name is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from labkit.core.errors import LabError
from labkit.experiments.design import Design
from labkit.store.masking import without_said_secrets
from labkit.store.runs import Run, RunWriter
from labkit.traffic.recording import Recording, named
from labkit.traffic.several import split

_MASKED = "Secrets in its texts were masked, so that it cannot be sent again as it was."


def keep_recordings(writer: RunWriter, recordings: Iterable[Recording]) -> None:
    """Write each of them that the run's folder does not hold yet, whole, whatever part of it is sent."""
    there = {line.get("name") for line in Run(writer.folder).recordings() if line.get("type") == "recording"}
    new = {each.header.name: each for each in recordings if each.header.name not in there}
    for recording in new.values():
        for line in _lines(recording):
            writer.recording(line)


def recordings_in(design: Design) -> list[Recording]:
    """Each recording that the design sends, once."""
    sent = (recording for block in design.blocks for each in design.passes(block) for recording, _ in each.sends)
    return list({recording.header.name: recording for recording in sent}.values())


def recording_of(run: Run, name: str) -> Recording | None:
    """The recording that the run replayed, from its folder; of a run from before that was kept, the shipped one.

    None where neither is there: it lay in a file that is gone.
    """
    kept = {recording.header.name: recording for recording in split(run.recordings())}
    if name in kept:
        return kept[name]
    try:
        return named(name)
    except (LabError, OSError):
        return None


def _lines(recording: Recording) -> list[dict[str, Any]]:
    """As in the recording's file; secrets masked, which the header then says."""
    lines = [recording.header.to_dict(), *(step.to_dict() for step in recording.steps)]
    masked: list[dict[str, Any]] = without_said_secrets(lines)
    if masked != lines:
        masked[0]["note"] = f"{masked[0].get('note') or ''} {_MASKED}".strip()
    return masked
