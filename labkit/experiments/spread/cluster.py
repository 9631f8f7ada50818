"""A Ray cluster that is up: connected to for as long as a run lasts, its nodes found fit to measure on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from labkit.core.errors import LabError
from labkit.experiments.spread.address import behind, checked, knock, left_over
from labkit.experiments.spread.fitness import check_alike, first_line, probed
from labkit.experiments.spread.nodes import Node, nodes_of
from labkit.experiments.spread.ray_import import INSTALL, ray_module


@contextmanager
def connected(address: str) -> Iterator[tuple[Node, ...]]:
    """Ray and its nodes, head first, for as long as the block lasts. `address`: `auto` or HOST:PORT.

    Raises LabError without Ray, without a cluster, and for a node that cannot measure; BadInput for an address.
    """
    address = checked(address)
    ray = ray_module()
    _connect(ray, address)
    try:
        found = nodes_of(ray.nodes())
        check_alike(probed(ray, found))
        yield found
    finally:
        ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    found = address
    try:
        found = behind(ray, address)
        knock(found)
        _enter(ray, found)
    except OSError as error:
        raise LabError(
            f"No Ray cluster answers at {_said(address, found)}: {first_line(error)}",
            "On the head node: ray start --head --port=6379. On each other: ray start --address=HEAD:6379."
            f"{left_over(address)}",
        ) from error
    except (RuntimeError, ValueError) as error:
        raise LabError(
            f"Ray refuses this process at {_said(address, found)}: {first_line(error)}",
            f"Use the same Python and Ray here and on every node. {INSTALL}",
        ) from error


def _enter(ray: Any, found: str) -> None:
    """Raises LabError where what listens at `found` is no cluster that lets this process in, OSError of `auto`."""
    try:
        ray.init(address=found, log_to_driver=False, configure_logging=False, logging_level="ERROR")
    except OSError as error:
        if found == "auto":  # nobody was knocked at
            raise
        raise LabError(
            f"What listens at {found} does not let Ray in: {first_line(error)}",
            "A cluster that asks for a token wants this first: export RAY_AUTH_MODE=token, with the head's "
            "~/.ray/auth_token in the same place here. Is it a Ray head at all? See: ray status --address " + found,
        ) from error
    _quiet()


def _said(asked: str, found: str) -> str:
    return asked if asked == found else f"{found} ({asked})"


def _quiet() -> None:
    """Ray prints what its nodes say on stdout, where --json has its one line; a loss is an event of the run anyway."""
    from ray._private import worker

    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None
