"""Ports that a plan must have as they are: free, with room for its ranks, or it is told whose they are."""

from __future__ import annotations

from collections.abc import Iterable

from labkit.core.errors import PortInUse
from labkit.engines.moriio.halves import rooms
from labkit.engines.plan_records import Plan
from labkit.engines.ports import require_free
from labkit.engines.process import group
from labkit.engines.registry import Engine


def require_fixed_free(plan: Plan, engines: Iterable[Engine]) -> None:
    """Raises PortInUse when a fixed port is taken; for what is left of one of `engines`, with what clears it."""
    room = rooms(plan.layout)
    for name in plan.port_names:
        if name in plan.fixed:
            try:
                require_free(name, plan.ports[name], room.get(name, 1))
            except PortInUse as error:
                raise _of_ours(error, plan.ports[name], engines) from error


def _of_ours(error: PortInUse, port: int, engines: Iterable[Engine]) -> PortInUse:
    """`error`, in better words when a dead or orphaned engine with that port has processes that still run."""
    for engine in engines:
        gone = engine.status in ("dead", "orphaned")
        if gone and port in engine.plan.ports.values() and any(map(group, engine.processes)):
            what = f"{error.message}; engine {engine.id} is {engine.status}, but not all of it has ended"
            return PortInUse(what, f"End the rest of it: labkit down {engine.id}")
    return error
