"""A replayed step as rows of the run's tables. Pure: all times are moved to the run's clock here and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from labkit.core.chat import Reply, Usage
from labkit.core.records import ChunkRecord, StepRecord
from labkit.experiments.ceilings import Shareable
from labkit.traffic.replay import Replayed
from labkit.traffic.said import said_sha256


@dataclass(frozen=True, kw_only=True)
class Place:
    """Which block of which run a step belongs to. `t0`: reading of the clock at the run's start."""

    run: str
    arm: str
    task: str
    repeat: int
    recording: str = ""
    condition: str = ""
    cache: str = "cold"
    switched_by: str
    history: str
    mode: str = "natural"
    engine: str
    t0: float
    agent: str = "0"
    warmup: bool = False


@dataclass(frozen=True, kw_only=True)
class Around:
    """What the engine's own counters say about the one step between two scrapes; null where they do not.

    The fields are those of StepRecord, and fill in what the reply itself does not tell. `halves`: prefill and decode
    served it, of which a reply knows decode's times alone.
    """

    halves: bool = False

    transferred_tokens: int | None = None
    drafts: int | None = None
    drafted_tokens: int | None = None
    accepted_tokens: int | None = None
    server_s: float | None = None
    queue_s: float | None = None
    prefill_s: float | None = None
    transfer_s: float | None = None
    decode_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Rows:
    """One step, the chunks of its stream, and what was said in it (see `RunWriter.step`)."""

    step: StepRecord
    chunks: list[ChunkRecord] = field(default_factory=list)
    texts: dict[str, Any] = field(default_factory=dict)


def rows_of(place: Place, done: Replayed, around: Around, shareable: Shareable | None = None) -> Rows:
    """The rows of a step that ended, well or not. A broken reply keeps the chunks that had arrived."""
    reply = done.reply or done.partial
    step = StepRecord(
        **_place(place),
        switched_by=place.switched_by,
        history=place.history,
        mode=place.mode,
        engine=place.engine,
        turn=done.step.turn,
        kind=done.step.kind,
        t_send=done.t_send - place.t0,
        t_end=done.t_end - place.t0,
        tool_name=done.step.tool_name,
        tool_s=done.step.tool_s,
        tool_bytes=done.step.tool_bytes,
        send_lag_s=done.t_send - done.t_intended,
        error=done.error,
        **(shareable or Shareable()).to_dict(),
        **_stream(reply, place.t0),
        **_engine_said(reply.usage if reply else Usage(), around),
    )
    return Rows(step=step, chunks=_chunks(place, done.step.turn, reply), texts=_texts(place, done, reply))


def _texts(place: Place, done: Replayed, reply: Reply | None) -> dict[str, Any]:
    """The reply; and what was new in the request where no recording holds it, which is so when an agent works live."""
    said = {"reply": reply.message} if reply else {}
    return said if place.recording else {**said, "append": done.step.append}


def _place(place: Place) -> dict[str, Any]:
    names = ("run", "arm", "task", "agent", "repeat", "recording", "condition", "cache", "warmup")
    return {name: getattr(place, name) for name in names}


def _stream(reply: Reply | None, t0: float) -> dict[str, Any]:
    if reply is None:
        return {}
    times = {name: getattr(reply, name) for name in ("t_first_token", "t_first_visible", "t_last")}
    return {
        **{name: None if t is None else t - t0 for name, t in times.items()},
        "parse_s": reply.parse_s,
        "finish_reason": reply.finish_reason,
        "text_sha256": said_sha256(reply.message),
    }


def _engine_said(usage: Usage, around: Around) -> dict[str, Any]:
    """Counters of the step where they know better (split arms), else the reply's own numbers, else the counters."""
    drafted = usage if usage.drafts is not None else around
    timed = around if around.prefill_s is not None and (around.halves or usage.prefill_s is None) else usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "cached_tokens": usage.cached_tokens,
        "completion_tokens": usage.completion_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "transferred_tokens": around.transferred_tokens,
        "transfer_s": around.transfer_s,
        "server_s": around.server_s,
        **{name: getattr(drafted, name) for name in ("drafts", "drafted_tokens", "accepted_tokens")},
        **{name: getattr(timed, name) for name in ("queue_s", "prefill_s", "decode_s")},
    }


def _chunks(place: Place, turn: int, reply: Reply | None) -> list[ChunkRecord]:
    return [
        ChunkRecord(**_place(place), turn=turn, index=n, **{**chunk.to_dict(), "t": chunk.t - place.t0})
        for n, chunk in enumerate(reply.chunks if reply else ())
    ]
