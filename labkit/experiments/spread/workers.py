"""What a run asks of its nodes, whoever brings the questions there: a Protocol, so that a run does not know of Ray."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Protocol

from labkit.core.clock import Clock
from labkit.core.errors import LabError
from labkit.experiments.spread.offset import Offset
from labkit.experiments.spread.relayed import Line
from labkit.experiments.spread.worker import Order


class NodeLost(LabError):
    """The node, or the worker on it, is gone."""


class Workers(Protocol):
    """One worker per node, by the node's name; see `crew`."""

    async def facts(self) -> dict[str, dict[str, Any]]:
        """The fingerprint of each node. Raises LabError for one that cannot serve, or where no worker begins."""
        ...

    async def offset(self, node: str, clock: Clock) -> Offset:
        """How far its clock is ahead of this one. Raises NodeLost."""
        ...

    def measured(self, node: str, order: Order) -> AsyncGenerator[Line, None]:
        """The lines of a repeat as they come. Raises NodeLost.

        Cancelled, it has the worker stop, and gives what was still on its way before it ends.
        """
        ...

    def kill(self, node: str) -> None:
        """Give up a worker that was lost, so that it does nothing more should it still be there."""
        ...
