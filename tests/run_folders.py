"""Run folders of every end, written by the real writer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from synthetic import chunks

from labkit.core.records import RunState, StepRecord
from labkit.store.runs import RunStore, RunWriter


def started(arms: Sequence[str], **asked: Any) -> RunWriter:
    """A run that goes on, as the live page would have asked for it."""
    params = {"profile": "cpu-smollm2", "recording": "tiny", "arms": list(arms), "steps": 4, **asked}
    return RunStore().create("replay", params, {})


def write(writer: RunWriter, steps: Sequence[StepRecord]) -> RunWriter:
    """Steps and their chunks."""
    for made in steps:
        step = replace(made, run=writer.id)
        writer.step(step, chunks(step) if step.t_last is not None else [])
    return writer


def ended(steps: Sequence[StepRecord], state: RunState = "done", note: str = "", **asked: Any) -> str:
    """A run that has ended; its id."""
    arms = list(dict.fromkeys(step.arm for step in steps)) or ["base"]
    writer = write(started(asked.pop("arms", arms), **asked), steps)
    writer.finish(state, note)
    return writer.id
