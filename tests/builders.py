"""Records with everything filled in, so that a test names only what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from labkit.analysis.tables import typed_frame
from labkit.core.records import ChunkRecord, Record, SampleRecord, StepRecord

_KEY = ("run", "arm", "task", "agent", "repeat", "recording", "condition", "cache", "turn", "warmup")


def a_step(run: str = "r", **values: Any) -> StepRecord:
    """A step of `run` that took half a second, unless told otherwise, on a start of its own of each arm and repeat."""
    defaults: dict[str, Any] = {
        "arm": "base",
        "task": "count",
        "agent": "a0",
        "repeat": 0,
        "turn": 1,
        "kind": "act",
        "warmup": False,
        "switched_by": "flag",
        "history": "recorded",
        "engine": f"{values.get('arm', 'base')}-{values.get('repeat', 0)}",
        "t_send": 1.0,
        "t_end": 1.5,
    }
    return StepRecord(run=run, **{**defaults, **values})


def chunks_at(step: StepRecord, *times: float, chars: int = 4, kind: str = "content") -> list[ChunkRecord]:
    """The step's chunks, arriving at these times (s since the run's start)."""
    key = {name: getattr(step, name) for name in _KEY}
    return [ChunkRecord(**key, index=i, t=t, kind=kind, chars=chars) for i, t in enumerate(times)]


def a_sample(run: str = "r", **values: Any) -> SampleRecord:
    """One CPU reading of the host."""
    defaults: dict[str, Any] = {"t": 1.0, "source": "host", "name": "cpu", "unit": "%", "value": 50.0}
    return SampleRecord(run=run, **{**defaults, **values})


def frame_of(records: Sequence[StepRecord] | Sequence[ChunkRecord], like: type[Record] = StepRecord) -> pd.DataFrame:
    """Records as the typed table that the store would give; `like` types an empty one."""
    return typed_frame(type(records[0]) if records else like, records)
