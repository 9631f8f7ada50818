"""Runs for the Layers page, opened: synthetic steps whose cache, prefill and drafts have known answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import synthetic
from run_folders import write

from labkit.core.records import StepRecord
from labkit.experiments.dashboard.opened import Opened
from labkit.store.runs import RunStore


def opened(
    root: Path,
    steps: Sequence[StepRecord],
    events: Sequence[tuple[str, Mapping[str, Any]]] = (),
    fingerprint: Mapping[str, Any] | None = None,
    experiment: str = "replay",
    **asked: Any,
) -> Opened:
    """A run that is done, with these events between its steps and its end."""
    arms = list(dict.fromkeys(step.arm for step in steps))
    params = {"profile": "cpu-smollm2", "recording": "tiny", "arms": arms, **asked}
    writer = write(RunStore(root).create(experiment, params, dict(fingerprint or {})), steps)
    for kind, fields in events:
        writer.event(kind, **fields)
    writer.finish("done", "")
    return Opened(RunStore(root).open(writer.id))


def step(arm: str, turn: int, **changes: Any) -> StepRecord:
    """A synthetic step whose prefill is its time to the first token, and whose losses are all rounding."""
    made = synthetic.step(arm, turn, recording="tiny")
    shared = 0 if turn == 1 else (made.prompt_tokens or 0) - 200
    told = {
        "shared_tokens": shared,
        "append_tokens": shared,
        "reachable_tokens": made.ceiling_tokens,
        "prefill_s": (made.t_first_token or 0.0) - made.t_send,
        "drafts": 10 if made.drafted_tokens else None,
    }
    return synthetic.step(arm, turn, recording="tiny", **{**told, **changes})


def steps(*arms: str, turns: int = 5, **changes: Any) -> list[StepRecord]:
    """Every turn of every arm."""
    return [step(arm, turn, **changes) for arm in arms for turn in range(1, turns + 1)]


def counters(arm: str, repeat: int = 0, **processes: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A `counters` event of one pass: role to what its counters grew by."""
    grown = {role: {"growth": dict(growth)} for role, growth in processes.items()}
    about = {"arm": arm, "repeat": repeat, "recording": "tiny", "condition": "", "cache": "cold"}
    return "counters", {**about, "processes": grown}
