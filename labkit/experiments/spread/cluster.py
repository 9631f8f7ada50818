"""A Ray cluster that is up: connected to for as long as a run lasts, its nodes found fit to measure on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from labkit.core.errors import BadInput, LabError
from labkit.experiments.spread.fitness import check_alike, first_line, probed
from labkit.experiments.spread.nodes import Node, nodes_of
from labkit.experiments.spread.ray_import import ray_module

_KNOCK_S = 5.0


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
        check_alike(probed(ray, found))
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
            f"No Ray cluster answers at {address}: {first_line(error)}",
            "On the head node: ray start --head --port=6379. On each other: ray start --address=HEAD:6379. "
            "A cluster that asks for a token wants this first: export RAY_AUTH_MODE=token",
        ) from error
    except (RuntimeError, ValueError) as error:
        raise LabError(
            f"Ray refuses this process at {address}: {first_line(error)}",
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
