"""Plans of tiny servers, for tests of the fleet."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from labkit.engines.plan_records import Plan, ProcessSpec

SERVER = str(Path(__file__).with_name("tiny_server.py"))


def tiny(role: str, *options: str, memory_bytes: int = 1, env: dict[str, str] | None = None) -> ProcessSpec:
    """One tiny server; its log's first line is `starting`."""
    argv = (sys.executable, SERVER, f"{{port:{role}}}", *options)
    return ProcessSpec(role=role, argv=argv, env=env or {}, memory_bytes=memory_bytes)


def plan_of(*processes: ProcessSpec, **changes: Any) -> Plan:
    """A plan of these processes; `changes` replace fields of Plan."""
    fields: dict[str, Any] = {
        "profile": "tiny",
        "arm": "base",
        "model": "tiny",
        "method": None,
        "salted": False,
        "layout": processes,
        "max_startup_s": 10.0,
        "expected_start_s": 1.0,
    }
    plan = Plan(**{**fields, **changes})
    return plan.with_ports({name: plan.ports.get(name, 1) for name in plan.port_names})


def runs(pid: int) -> bool:
    """Whether the process runs; a zombie that nobody has reaped yet does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


async def until(condition: Callable[[], object]) -> None:
    """Wait until it holds, ten seconds at most."""
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it never came true")
