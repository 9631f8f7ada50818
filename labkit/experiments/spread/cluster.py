"""The nodes of a Ray cluster that is up: found, named, and asked whether they are fit to measure on."""

from __future__ import annotations

import ipaddress
import platform
import socket
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import labkit
from labkit.core.errors import BadInput, LabError
from labkit.experiments.spread.ray_import import ray_module

_PROBE_S = 60.0
_KNOCK_S = 5.0


@dataclass(frozen=True)
class Node:
    """A machine of the cluster. `name`: what rows and events call it; `id`: Ray's; `gpus`: that Ray knows of."""

    name: str
    id: str
    gpus: float = 0.0


@contextmanager
def connected(address: str) -> Iterator[tuple[Node, ...]]:
    """Ray and its nodes, head first, for as long as the block lasts. `address`: `auto` or HOST:PORT.

    Raises LabError without Ray, without a cluster, and for a node that cannot measure; BadInput for an address.
    """
    address = _checked(address)
    ray = ray_module()
    _connect(ray, address)
    try:
        found = nodes_of(ray.nodes())
        check_alike(_probed(ray, found))
        yield found
    finally:
        ray.shutdown()


def _checked(address: str) -> str:
    host, colon, port = address.rpartition(":")
    if address == "auto" or (host and colon and port.isdecimal() and "/" not in address):
        return address
    raise BadInput("ray", address, "auto, or HOST:PORT of the head node", "Start one: ray start --head --port=6379")


def _connect(ray: Any, address: str) -> None:
    try:
        if address != "auto":
            _knock(address)
        ray.init(address=address, log_to_driver=False, configure_logging=False, logging_level="ERROR")
        _quiet()
    except OSError as error:
        raise LabError(
            f"No Ray cluster answers at {address}: {_first_line(error)}",
            "On the head node: ray start --head --port=6379. On each other: ray start --address=HEAD:6379. "
            "A cluster that asks for a token wants this first: export RAY_AUTH_MODE=token",
        ) from error
    except (RuntimeError, ValueError) as error:
        raise LabError(
            f"Ray refuses this process at {address}: {_first_line(error)}",
            "Use the same Python and Ray here and on every node: pip install 'labkit[ray]'.",
        ) from error


def _knock(address: str) -> None:
    """Raises OSError where nothing listens: Ray itself would go on trying for over a minute."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_S).close()


def _quiet() -> None:
    """Ray prints what its nodes say on stdout, where --json has its one line; a loss is an event of the run anyway."""
    from ray._private import worker

    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


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


def _probed(ray: Any, nodes: Sequence[Node]) -> dict[str, dict[str, str]]:
    """What each node has of labkit and Python. The function carries its own text: labkit may not be there."""

    def probe() -> dict[str, str]:
        import platform

        try:
            import labkit
        except ImportError as error:
            return {"python": platform.python_version(), "labkit": "", "error": str(error)}
        return {"python": platform.python_version(), "labkit": labkit.__version__}

    asked = [on_node(ray, probe, node).remote() for node in nodes]
    try:
        return {node.name: ray.get(one, timeout=_PROBE_S) for node, one in zip(nodes, asked, strict=True)}
    except ray.exceptions.RayError as error:
        raise LabError(f"A node does not answer: {_first_line(error)}", "See which: ray status") from error


def check_alike(probed: Mapping[str, Mapping[str, str]]) -> None:
    """Raises LabError for a node without this labkit or with another Python: what it sends could not be read."""
    python = _minor(platform.python_version())
    for name, has in probed.items():
        if not has["labkit"]:
            raise LabError(
                f"{name} has no labkit: {has.get('error', 'not installed')}.",
                "Install it in the environment that `ray start` runs in there: pip install 'labkit[ray]'",
            )
        if has["labkit"] != labkit.__version__:
            raise LabError(
                f"{name} has labkit {has['labkit']}, and this machine {labkit.__version__}.",
                "Install one version on all, and start Ray there again: ray stop; ray start --address=HEAD:6379",
            )
        if _minor(has["python"]) != python:
            raise LabError(f"{name} has Python {has['python']}, and this machine {python}.", "Use one Python on all.")


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])
