"""The machines of a Ray cluster: which can measure, what they are called, and how to run on one of them."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labkit.core.errors import LabError


@dataclass(frozen=True)
class Node:
    """A machine of the cluster. `name`: what rows and events call it; `id`: Ray's; `gpus`: that Ray knows of."""

    name: str
    id: str
    gpus: float = 0.0


def nodes_of(told: Sequence[Mapping[str, Any]]) -> tuple[Node, ...]:
    """Ray's list of nodes as ours: those that are up and have processors to give, head first, each name once.

    A name is the one given with `ray start --node-name`; an address is none, since a run folder may be mailed: then it
    is `node-1`, `node-2`... Raises LabError when there is none.
    """
    fit = [node for node in told if node.get("Alive") and node.get("Resources", {}).get("CPU", 0) >= 1]
    if not fit:
        raise LabError("The cluster has no node with a processor to give.", "Start one: ray start --address=HEAD:6379")
    fit.sort(key=lambda node: ("node:__internal_head__" not in node["Resources"], node["NodeName"], node["NodeID"]))
    given = [_given(node) for node in fit]
    taken = Counter(given)
    names = [name if name and taken[name] == 1 else f"node-{n}" for n, name in enumerate(given, 1)]
    gpus = [float(node["Resources"].get("GPU", 0)) for node in fit]
    return tuple(Node(name, node["NodeID"], gpu) for name, node, gpu in zip(names, fit, gpus, strict=True))


def _given(node: Mapping[str, Any]) -> str:
    """The node's name where somebody gave it one; without what would read as a folder in an engine's name."""
    name = str(node.get("NodeName") or "")
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
    return ""


def on_node(ray: Any, thing: Any, node: Node, **options: Any) -> Any:
    """A function or class as Ray runs it on this very node, whatever else runs there."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    where = NodeAffinitySchedulingStrategy(node.id, soft=False)
    return ray.remote(thing).options(num_cpus=0, scheduling_strategy=where, **options)
