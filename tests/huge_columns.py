"""The tables of a made-up run as columns, all at once: who asked for what when, and what came of it.

Arms go one after the other, the agents of an arm at once, and each agent's step when its last one is over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.core.arms import ARMS
from labkit.core.records import KINDS
from labkit.telemetry.names import KV_USAGE

LABELS = [arm.label for arm in ARMS]
CHUNK_S = 0.04
METRICS = (
    ("host", "cpu_percent", "%", 60.0),
    ("host", "memory_available", "bytes", 8e9),
    ("client", "loop_lag_p99", "s", 0.002),
    ("client", "cpu", "cores", 0.3),
    *((f"{label}/engine", KV_USAGE, "1", 0.6) for label in LABELS),
    *((f"{label}/engine", "vllm:num_requests_running", "requests", 90.0) for label in LABELS),
)


@dataclass(frozen=True)
class Size:
    """How much of everything; the full size is the default."""

    agents: int = 100
    turns: int = 25
    chunks: int = 50
    tasks: int = 10

    @property
    def steps(self) -> int:
        return len(LABELS) * self.agents * self.turns


class Load:
    """Who asked for what when, as arrays with one item per step; `times` has a row of chunk arrivals for each."""

    def __init__(self, size: Size) -> None:
        rng = np.random.default_rng(1)
        shape = (len(LABELS), size.agents, size.turns)
        self.arm, self.agent, turn = (values.ravel() for values in np.indices(shape))
        self.turn = turn + 1
        self.split, self.drafting, self.caching = (self._on(n) for n in ("pd_split", "speculation", "prefix_caching"))
        self.prompt = 500 + 180 * self.turn + self.agent % 7
        self.shared = np.where(self.turn == 1, 0, self.prompt - 180)
        self.ceiling = self.shared // 32 * 32
        self.cached = np.where(self.caching, self.ceiling, 0)
        self.failed = rng.random(self.turn.shape) < 0.002
        self.queue, self.tool = rng.uniform(0.001, 0.05, turn.shape), rng.uniform(0.01, 0.3, turn.shape)
        self.prefill = (self.prompt - self.cached) / 4000 * rng.uniform(0.9, 1.2, turn.shape)
        self.moving = np.where(self.split, 0.03, 0.0)
        gaps = rng.uniform(0.8, 1.3, (turn.size, size.chunks)) * CHUNK_S
        gaps[:, 0] = 0
        self.decode = gaps.sum(axis=1)
        self.send = self._sends(shape)
        self.first = self.send + self.queue + self.prefill + self.moving
        self.times = np.where(self.failed[:, None], np.nan, self.first[:, None] + np.cumsum(gaps, axis=1))

    def _on(self, layer: str) -> np.ndarray:
        return np.array([layer in arm.layers for arm in ARMS])[self.arm]

    def _sends(self, shape: tuple[int, int, int]) -> np.ndarray:
        """Arms one after the other; all agents of an arm at once, each step when its last one is over."""
        whole = (self.queue + self.prefill + self.moving + self.decode + self.tool).reshape(shape)
        blocks = np.concatenate([[0.0], np.cumsum(whole.sum(axis=2).max(axis=1) + 5)[:-1]])
        return (np.cumsum(whole, axis=2) - whole + blocks[:, None, None]).ravel() + 5

    def known(self, values: Any, where: np.ndarray | bool = True) -> np.ndarray:
        """Null where it was not measured, so wherever the step failed."""
        return np.where(where & ~self.failed, np.broadcast_to(values, self.failed.shape).astype(float), np.nan)

    def said(self, word: str) -> np.ndarray:
        return np.where(self.failed, None, np.full(self.failed.shape, word, dtype=object))


def step_columns(run_id: str, size: Size) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The steps in the order in which they ended, and when each of their chunks came: (steps, chunks)."""
    load = Load(size)
    columns = {"run": run_id, **names(load, size), **times(load), **tokens(load, size), **rest(load)}
    order = np.argsort(columns["t_end"], kind="stable")
    whole = {name: np.asarray(v, dtype=object if isinstance(v, str) else None) for name, v in columns.items()}
    return {name: np.broadcast_to(v, order.shape)[order] for name, v in whole.items()}, load.times[order]


def names(load: Load, size: Size) -> dict[str, Any]:
    tasks = np.array([f"task-{n}" for n in range(size.tasks)], dtype=object)[load.agent % size.tasks]
    labels = np.array(LABELS, dtype=object)[load.arm]
    return {
        "arm": labels, "task": tasks, "agent": load.agent.astype(str).astype(object), "repeat": 0, "turn": load.turn,
        "kind": np.array(KINDS, dtype=object)[(load.turn - 1) % len(KINDS)], "recording": tasks, "condition": "",
        "cache": "cold", "warmup": False, "switched_by": np.where(load.caching, "flag", "salt"),
        "history": "recorded", "mode": "natural", "engine": labels,
    }  # fmt: skip


def times(load: Load) -> dict[str, Any]:
    known = load.known
    return {
        "t_send": load.send, "t_first_token": known(load.first), "t_first_visible": known(load.first),
        "t_last": known(load.times[:, -1]), "t_end": load.first + load.decode, "server_s": known(0),
        "queue_s": known(load.queue), "prefill_s": known(load.prefill), "transfer_s": known(load.moving, load.split),
        "decode_s": known(load.decode), "tool_s": known(load.tool), "send_lag_s": known(1e-4), "parse_s": known(1e-3),
    }  # fmt: skip


def tokens(load: Load, size: Size) -> dict[str, Any]:
    known, drafting = load.known, load.drafting
    return {
        "prompt_tokens": known(load.prompt), "retokenized_tokens": known(load.prompt),
        "cached_tokens": known(load.cached), "ceiling_tokens": known(load.ceiling),
        "reachable_tokens": known(load.ceiling), "shared_tokens": known(load.shared),
        "append_tokens": known(load.shared), "transferred_tokens": known(load.prompt - load.cached, load.split),
        "completion_tokens": known(size.chunks * np.where(drafting, 3, 1)), "drafts": known(size.chunks, drafting),
        "drafted_tokens": known(4 * size.chunks, drafting), "accepted_tokens": known(2 * size.chunks, drafting),
    }  # fmt: skip


def rest(load: Load) -> dict[str, Any]:
    return {
        "tool_name": load.said("read_file"), "tool_bytes": load.known(800), "finish_reason": load.said("tool_calls"),
        "text_sha256": load.said("0" * 64), "error": np.where(load.failed, "HTTP 500", None),
    }  # fmt: skip


def chunk_columns(steps: dict[str, np.ndarray], times: np.ndarray) -> dict[str, np.ndarray]:
    """Every chunk of every step that did not fail."""
    rows, width = times.shape
    there = ~np.isnan(times).ravel()
    shared = ("run", "arm", "task", "agent", "repeat", "turn", "recording", "condition", "cache", "warmup")
    tokens = np.repeat(np.where(np.isnan(steps["drafts"].astype(float)), 1, 3), width)
    own = {
        "index": np.tile(np.arange(width), rows), "t": times.ravel(), "tokens": tokens,
        "kind": np.full(rows * width, "content", dtype=object), "chars": np.full(rows * width, 4),
    }  # fmt: skip
    return {name: values[there] for name, values in {**{n: np.repeat(steps[n], width) for n in shared}, **own}.items()}


def sample_columns(run_id: str, seconds: float) -> dict[str, np.ndarray]:
    """Every metric once a second."""
    rng, clock = np.random.default_rng(2), np.arange(0.0, seconds)
    rows = len(clock) * len(METRICS)
    columns = {name: np.tile(np.array([m[i] for m in METRICS], dtype=object), len(clock))
               for i, name in enumerate(("source", "name", "unit"))}  # fmt: skip
    value = np.tile(np.array([m[3] for m in METRICS]), len(clock)) * rng.uniform(0.5, 1.2, rows)
    t = np.repeat(clock, len(METRICS))
    return {"run": np.full(rows, run_id, dtype=object), "t": t, **columns, "value": value}
