"""Prefill and decode of a plan as MoRI-IO sees them, read from their command lines: what is checked is what runs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from labkit.engines.plan_records import Plan, ProcessSpec

CONNECTOR = "MoRIIOConnector"
PORT_BASES = ("handshake_port", "notify_port")
"""Rank r of an engine listens on each of these plus r (vLLM: dp * tp + r), so each needs a port per rank."""
_MARKER = re.compile(r"\{port:([\w-]+)\}")


@dataclass(frozen=True)
class Half:
    """One engine with the connector. `extra`: its kv_connector_extra_config; `tp`, `dp`: sizes of its parallelism."""

    process: ProcessSpec
    extra: dict[str, Any]
    tp: int
    dp: int

    @property
    def ranks(self) -> int:
        """Worker processes, each with a handshake and a notify port of its own."""
        return self.tp * self.dp


def halves(processes: Sequence[ProcessSpec]) -> tuple[Half, ...]:
    """The processes that have the connector, in order; none in a plan without MoRI-IO."""
    found = ((process, option(process.argv, "--kv-transfer-config")) for process in processes)
    configs = ((process, json.loads(text)) for process, text in found if text)
    return tuple(
        _half(process, config.get("kv_connector_extra_config") or {})
        for process, config in configs
        if config.get("kv_connector") == CONNECTOR
    )


def _half(process: ProcessSpec, extra: dict[str, Any]) -> Half:
    tp, dp = (option(process.argv, flag) or "1" for flag in ("--tensor-parallel-size", "--data-parallel-size"))
    return Half(process, extra, int(tp), int(dp))


def rooms(layout: Sequence[ProcessSpec]) -> dict[str, int]:
    """How many ports in a row each handshake and notify port of `layout` begins, by its name among the plan's ports."""
    return {
        name: half.ranks
        for half in halves(layout)
        for base in PORT_BASES
        for name in _MARKER.findall(str(half.extra.get(base, "")))
    }


def discovery_address(processes: Sequence[ProcessSpec]) -> str | None:
    """HOST:PORT on which the router waits for engines to announce themselves; None when it is told of them."""
    routers = (process for process in processes if process.role == "router")
    return next((option(process.argv, "--vllm-discovery-address") for process in routers), None)


def discovers(plan: Plan) -> bool:
    """Whether the engines of this plan must register with their router before it serves anything."""
    return discovery_address(plan.layout) is not None


def option(argv: Sequence[str], name: str) -> str | None:
    """The value after `name`, as the last one wins for argparse; None when it is not there."""
    values = [argv[place + 1] for place, word in enumerate(argv[:-1]) if word == name]
    return values[-1] if values else None
