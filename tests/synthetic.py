"""A made-up run whose every number follows from its turn, so that tests know the answers."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from labkit.core.arms import arm_named
from labkit.core.columns import columns_of
from labkit.core.records import ChunkRecord, StepRecord
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader

KINDS = ("plan", "act", "observe", "act", "answer")


def step(arm: str, turn: int, *, repeat: int = 0, t: float = 0.0, **changes: object) -> StepRecord:
    """Prompt 400 + 200 a turn; TTFT 1 s per 1000 computed tokens; 20 tokens at 0.1 s, halved by speculation."""
    layers = arm_named(arm).layers
    prompt = 400 + 200 * turn
    ceiling = 0 if turn == 1 else prompt - 200 - prompt % 32
    cached = ceiling if "prefix_caching" in layers else 0
    moved = prompt - cached if "pd_split" in layers else None
    drafted, accepted = (40, 30) if "speculation" in layers else (None, None)
    ttft, decode = (prompt - cached) / 1000, 1.0 if "speculation" in layers else 2.0
    values: dict[str, object] = {
        "run": "r1", "arm": arm, "task": "t1", "agent": "a1", "repeat": repeat, "turn": turn,
        "kind": KINDS[(turn - 1) % len(KINDS)], "warmup": False, "switched_by": "salt", "history": "recorded",
        "engine": f"{arm}-{repeat}", "t_send": t, "t_first_token": t + ttft, "t_first_visible": t + ttft,
        "t_last": t + ttft + decode, "t_end": t + ttft + decode, "prompt_tokens": prompt, "cached_tokens": cached,
        "ceiling_tokens": ceiling, "transferred_tokens": moved, "completion_tokens": 20, "drafted_tokens": drafted,
        "accepted_tokens": accepted, "finish_reason": "stop",
    }  # fmt: skip
    return StepRecord(**{**values, **changes})  # type: ignore[arg-type]


def steps(arms: Sequence[str] = ("base", "prefix"), turns: int = 4, repeats: int = 1) -> list[StepRecord]:
    """Every arm, repeat and turn, one after the other."""
    return [step(arm, turn, repeat=n) for n in range(repeats) for arm in arms for turn in range(1, turns + 1)]


def failed(arm: str, turn: int) -> StepRecord:
    """A step that got no token."""
    gone = dict.fromkeys(c.name for c in columns_of(StepRecord) if c.nullable)
    return step(arm, turn, **{**gone, "error": "HTTP 500"})


def chunks(of: StepRecord) -> list[ChunkRecord]:
    """Twenty chunks, evenly spaced from the first to the last token of a finished step."""
    assert of.t_first_token is not None
    assert of.t_last is not None
    gap = (of.t_last - of.t_first_token) / 19
    return [
        ChunkRecord(
            run=of.run, arm=of.arm, task=of.task, agent=of.agent, repeat=of.repeat, turn=of.turn, warmup=of.warmup,
            index=i, t=of.t_first_token + i * gap, kind="content", chars=4,
        )
        for i in range(20)
    ]  # fmt: skip


def frame(records: Sequence[StepRecord]) -> pd.DataFrame:
    """The records as the table that the store returns."""
    return pd.DataFrame([record.to_dict() for record in records])


def recording(name: str = "tiny", turns: int = 4) -> Recording:
    """A few requests that anything can answer."""
    steps = tuple(
        RecordedStep(
            turn=turn,
            kind="act",
            append=[{"role": "user", "content": f"Count to {turn}. " * 20}],
            reply={"role": "assistant", "content": "One, two, three."},
            request={"max_tokens": 8},
        )
        for turn in range(1, turns + 1)
    )
    return Recording(
        header=RecordingHeader(name=name, task=name, decided_by="scripted", model="any", tools=[]), steps=steps
    )
