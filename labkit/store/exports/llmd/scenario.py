"""What ran and under which load, as far as the run folder knows it.

The report's `inference_engine` wants an accelerator with a count; a run on CPUs has none, so engines are `generic`
components with the same facts. Environment variables are left out on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import labkit
from labkit.core.records import RunInfo
from labkit.store.exports.engine_facts import Process, engine_name, engine_version, flags, model_name, processes_of
from labkit.store.exports.files import known
from labkit.store.exports.requests import Cell, Request, by_session, stable_id

_AGENTS = re.compile(r"\bagents=(\d+)")
_LIVE = "An agent's own loop: live model, live tools."
_REPLAY = "Replay of a recorded agent run, closed loop: the next request waits for the last answer."


def stack(info: RunInfo, cell: Cell) -> list[dict[str, Any]]:
    """A component per process of the cell's engine; empty when the fingerprint does not tell which engine that was."""
    return [_component(info, process) for process in processes_of(info, cell.arm)]


def _component(info: RunInfo, process: Process) -> dict[str, Any]:
    role, native = str(process.get("role")), flags(process)
    facts = {
        "kind": "generic",
        "tool": "vllm-router" if role == "router" else engine_name(info),
        "tool_version": (_router(info) if role == "router" else engine_version(info)) or "unknown",
        "role": role,
        "model": model_name(info),
        "cpu": (info.fingerprint.get("cpu") or {}).get("model"),
    }
    return {
        "metadata": {"label": role, "cfg_id": stable_id(role, *native.items(), digits=16)},
        "standardized": known(facts),
        "native": {"args": native},
    }


def _router(info: RunInfo) -> str | None:
    return (info.fingerprint.get("packages") or {}).get("vllm-router")


def load(info: RunInfo, cell: Cell, mine: Sequence[Request]) -> dict[str, Any] | None:
    """The workload; None without a known prompt length, which the report asks for."""
    lengths = [r.step.prompt_tokens for r in mine if r.step.prompt_tokens is not None]
    if not lengths:
        return None
    replayed = any(request.step.recording for request in mine)
    turns = [len(requests) for requests in by_session(mine).values()]
    agents = _AGENTS.search(cell.condition)
    standard = {
        "tool": "labkit",
        "tool_version": labkit.__version__,
        "source": "sampled",
        "input_seq_len": _lengths(lengths),
        "multi_turn": {"enabled": max(turns) > 1, "max_turns": _lengths(turns)},
        "concurrency": int(agents[1]) if agents else len({request.step.agent for request in mine}),
    }
    return {
        "metadata": {"cfg_id": stable_id(sorted(info.asked.items()), cell.condition, digits=16),
                     "description": _REPLAY if replayed else _LIVE},
        "standardized": standard,
        "native": {"args": dict(info.asked)},
    }  # fmt: skip


def _lengths(values: Sequence[int]) -> dict[str, Any]:
    return {
        "distribution": "other",
        "value": sum(values) / len(values),
        "min": min(values),
        "max": max(values),
    }
