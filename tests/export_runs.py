"""Runs whose every exported number can be worked out by hand from the lines below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from builders import a_sample, a_step, chunks_at

from labkit.core.records import ChunkRecord, StepRecord
from labkit.store.runs import Run, RunStore

ARGV = ["python", "-m", "vllm.serve", "--model", "tiny", "--api-key", "hunter2", "--max-model-len=8192"]
PRINT = {
    "packages": {"vllm": "0.32.0"},
    "model": "tiny-served",
    "cpu": {"model": "Some CPU"},
    "engines": {
        "k1": {"processes": [{"role": "engine", "argv": ARGV, "env": {"HF_TOKEN": "hunter2"}}]},
        "k2": {"processes": [{"role": "engine", "argv": [*ARGV, "--speculative-config", "{}"], "env": {}}]},
    },
}


def stream(step: StepRecord, *parts: tuple[float, str, int | None]) -> list[ChunkRecord]:
    """Chunks of `(arrival, kind, tokens)`."""
    made = chunks_at(step, *(t for t, _, _ in parts))
    return [replace(c, kind=kind, tokens=tokens) for c, (_, kind, tokens) in zip(made, parts, strict=True)]


def held_back(run: str, **values: Any) -> tuple[StepRecord, list[ChunkRecord]]:
    """Three tokens come without text at 0.5 s, text from 1.0 s on; ten tokens in 1.7 s; a tool of 0.25 s follows."""
    step = a_step(
        run, **{
            "t_send": 10.0, "t_first_token": 10.5, "t_first_visible": 11.0, "t_last": 11.6, "t_end": 11.7,
            "prompt_tokens": 600, "cached_tokens": 0, "ceiling_tokens": 0, "completion_tokens": 10, "queue_s": 0.05,
            "prefill_s": 0.4, "decode_s": 1.1, "tool_name": "ls", "tool_s": 0.25, "tool_bytes": 12,
            "send_lag_s": 0.001, "finish_reason": "tool_calls", "recording": "tiny", **values,
        },
    )  # fmt: skip
    parts = ((0.5, "held", 3), (1.0, "tool", 2), (1.2, "tool", 1), (1.6, "tool", 4))
    return step, stream(step, *((step.t_send + t, kind, tokens) for t, kind, tokens in parts))


def failed(run: str) -> tuple[StepRecord, list[ChunkRecord]]:
    """Nothing came."""
    return a_step(run, turn=2, t_send=12.0, t_end=None, error="HTTP 500: no room", recording="tiny"), []


def reasoned(run: str) -> tuple[StepRecord, list[ChunkRecord]]:
    """One token of four is reasoning; the engine reports no token ids."""
    step = a_step(
        run, turn=3, kind="answer", t_send=13.0, t_first_token=13.4, t_first_visible=14.0, t_last=14.0, t_end=14.0,
        prompt_tokens=1000, cached_tokens=640, completion_tokens=4, reasoning_tokens=1, finish_reason="stop",
        recording="tiny",
    )  # fmt: skip
    return step, stream(step, (13.4, "reasoning", None), (14.0, "content", None))


def speculated(run: str) -> tuple[StepRecord, list[ChunkRecord]]:
    """Fifteen tokens, the first four in one chunk; ten of twenty draft tokens accepted in five rounds."""
    step = a_step(
        run, arm="spec", t_send=20.0, t_first_token=21.0, t_first_visible=21.0, t_last=22.0, t_end=22.0,
        prompt_tokens=600, completion_tokens=15, drafts=5, drafted_tokens=20, accepted_tokens=10, recording="tiny",
    )  # fmt: skip
    return step, stream(step, (21.0, "content", 4), (22.0, "content", 11))


def at_once(run: str) -> tuple[StepRecord, list[ChunkRecord]]:
    """Fifteen tokens in one chunk: there is no time per token."""
    step = a_step(
        run, arm="spec", turn=2, t_send=23.0, t_first_token=24.0, t_first_visible=24.0, t_last=24.0, t_end=24.0,
        prompt_tokens=800, completion_tokens=15, recording="tiny",
    )  # fmt: skip
    return step, stream(step, (24.0, "content", 15))


def a_rich_run(store: RunStore) -> Run:
    """A warm-up, a tool call, a failure and an answer in base, then two steps in spec; KV usage with a hole in it."""
    with store.create("replay", {"recording": "tiny", "gaps": True, "seed": 7}, PRINT) as writer:
        warmup = held_back(writer.id, warmup=True, t_send=1.0, t_first_token=1.5, t_first_visible=2.0, t_last=2.6,
                          t_end=2.7, task="warmup", recording="warmup")  # fmt: skip
        for step, chunks in (warmup, *(make(writer.id) for make in (held_back, failed, reasoned, speculated, at_once))):
            writer.step(step, chunks)
        usage = {"source": "base-0/engine", "name": "vllm:kv_cache_usage_perc", "unit": "1"}
        writer.samples(
            [a_sample(writer.id, t=t, value=v, **usage) for t, v in ((10.1, 0.2), (11.0, None), (13.0, 0.4))]
        )
    return store.open(writer.id)


def long_run(store: RunStore, steps: int, chunks: int) -> Run:
    """`steps` streams of `chunks` chunks each, one after the other."""
    with store.create("replay", {}, {}) as writer:
        for number in range(steps):
            t = float(number)
            step = a_step(writer.id, turn=number + 1, t_send=t, t_first_token=t + 0.1, t_last=t + 0.9, t_end=t + 0.9,
                          prompt_tokens=1000, completion_tokens=chunks)  # fmt: skip
            times: Sequence[float] = [t + 0.1 + 0.8 * i / chunks for i in range(chunks)]
            writer.step(step, chunks_at(step, *times))
    return store.open(writer.id)
