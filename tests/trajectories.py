"""Runs of conversations whose every token is known, in the ways in which a trajectory can be kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import synthetic

from labkit.core.chat import Message, Usage
from labkit.core.records import ChunkRecord, StepRecord
from labkit.experiments.kept_recordings import keep_recordings
from labkit.store.runs import RunStore, RunWriter
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, sha256
from labkit.traffic.said import said_sha256

TOOLS = [{"type": "function", "function": {"name": "read_file"}}]
RESULT = "\n".join(f"line {n} of **the** <b>file</b>" for n in range(30))

ELSE = {"role": "assistant", "content": "Something else."}


def call(path: str = "a.py") -> Message:
    made = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": json.dumps({"path": path})}}
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def recording(name: str = "talk", turns: int = 4) -> Recording:
    """Prompts of 400 + 200 a turn, replies of 20 tokens, a tool result in every second request."""
    made = [_step(turn) for turn in range(1, turns + 1)]
    header = RecordingHeader(
        name=name, task="t1", decided_by="scripted", model="fake", tools=TOOLS, reached=True, counted_by="fake"
    )
    return Recording(header=header, steps=tuple(made))


def _step(turn: int) -> RecordedStep:
    first = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Repair it."}]
    tool = [{"role": "tool", "tool_call_id": "c1", "content": RESULT}]
    new = first if turn == 1 else tool if turn % 2 == 0 else [{"role": "user", "content": "Go on."}]
    calls = turn % 2 == 1
    return RecordedStep(
        turn=turn,
        kind="act" if calls else "evaluate",
        append=new,
        reply=call() if calls else {"role": "assistant", "content": f"Said in turn {turn}."},
        usage=Usage(completion_tokens=20),
        tool_name="read_file" if calls else None,
        tool_s=0.25 if calls else None,
        tool_bytes=len(RESULT) if calls else None,
    )


def replayed(
    arms: Sequence[str] = ("base", "prefix+spec"),
    turns: int = 4,
    *,
    texts: bool = True,
    kept: bool = True,
    other: Sequence[tuple[str, int]] = (),
    state: str = "done",
    **changes: Any,
) -> str:
    """A replay of `recording`, by the real writer; its id. `texts`: replies are kept; `kept`: so is the recording.

    `other`: (arm, turn) where the engine said something else than was recorded. `changes`: of every row.
    """
    source = recording(turns=turns)
    asked = {"profile": "cpu-smollm2", "recording": "talk", "arms": list(arms)}
    writer = RunStore().create("replay", asked, {"recordings": {"talk": sha256(source)}})
    if kept:
        keep_recordings(writer, [source])
    for arm in arms:
        for turn in range(1, turns + 1):
            step = source.steps[turn - 1]
            message = ELSE if (arm, turn) in other else step.reply
            write(writer, arm, turn, message, texts=texts, recording="talk", **{**_of(step), **changes})
    writer.finish(state)  # type: ignore[arg-type]
    return writer.id


def write(run: RunWriter, arm: str, turn: int, message: Message | None, *, texts: bool = True, **values: Any) -> None:
    """One step of a conversation, as synthetic.step counts it."""
    said: dict[str, Any] = {"text_sha256": said_sha256(message) if message else None}
    if "spec" in arm:
        said |= {"drafts": 5, "drafted_tokens": 20, "accepted_tokens": 15}
    made = synthetic.step(arm, turn, t=10.0 * turn, run=run.id, **{"agent": "0", **said, **values})
    run.step(made, chunks(made), {"reply": message} if texts and message else None)


def chunks(of: StepRecord) -> list[ChunkRecord]:
    """Of 20 tokens in 20 events; with 15 drafts accepted in five: four tokens an event."""
    if of.t_last is None:
        return []
    sizes = [4] * 5 if of.accepted_tokens else [1] * 20
    return [replace(each, tokens=size) for each, size in zip(synthetic.chunks(of), sizes, strict=False)]


def _of(step: RecordedStep) -> dict[str, Any]:
    return {"kind": step.kind, "tool_name": step.tool_name, "tool_s": step.tool_s, "tool_bytes": step.tool_bytes}
