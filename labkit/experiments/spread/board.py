"""Who measures which repeat: dealt to the nodes in turn, dealt again when a node is lost, given up after some tries.

Known nodes and units in, decisions out; it neither measures nor waits for a node.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Sequence

from labkit.experiments.spread.units import Unit

RETRIES = 2
"""So often is a repeat begun anew after its node was lost."""


class Board:
    """The units of one run and the names of its nodes. `retries`: how often a repeat may be begun anew."""

    def __init__(self, units: Sequence[Unit], nodes: Sequence[str], retries: int = RETRIES) -> None:
        self._queues: dict[str, deque[Unit]] = {node: deque() for node in nodes}
        self._waiting = [unit for unit in units if unit.follows is not None]
        self._open = {unit.repeat: unit for unit in units}
        self._retries, self._tries, self._turn = retries, Counter[int](), 0
        self._changed = asyncio.Condition()
        self.done: dict[int, str] = {}
        """Repeat to the node that measured it."""
        self.given_up: dict[int, tuple[Unit, str]] = {}
        """Repeat to its unit and why it was not measured."""
        for unit in units:
            if unit.follows is None:
                self._deal(unit)

    @property
    def alive(self) -> list[str]:
        """The nodes that are not lost."""
        return list(self._queues)

    def _deal(self, unit: Unit) -> None:
        nodes = self.alive
        self._queues[nodes[self._turn % len(nodes)]].append(unit)
        self._turn += 1

    async def take(self, node: str) -> Unit | None:
        """The node's next unit; waits while another node's may still come to it. None: there is nothing more to do."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._open or bool(self._queues[node]))
            return self._queues[node].popleft() if self._queues[node] else None

    async def finished(self, node: str, unit: Unit) -> None:
        """It is measured; what has to follow it on this node comes next to last."""
        async with self._changed:
            self.done[unit.repeat] = node
            del self._open[unit.repeat]
            followers = [each for each in self._waiting if each.follows == unit.repeat]
            self._waiting = [each for each in self._waiting if each.follows != unit.repeat]
            self._queues[node].extend(followers)
            self._changed.notify_all()

    async def lost(self, node: str, during: Unit | None, why: str) -> None:
        """The node is gone: what it was to measure, `during` first, goes to others, or is given up."""
        async with self._changed:
            left = ([during] if during else []) + list(self._queues.pop(node))
            if during:
                self._tries[during.repeat] += 1
            for unit in left:
                self._again(unit, why)
            self._changed.notify_all()

    def _again(self, unit: Unit, why: str) -> None:
        if unit.follows is not None:
            self._give_up(unit, f"{why}, and what it is compared with was measured there")
        elif not self.alive:
            self._give_up(unit, f"{why}, and no node is left")
        elif self._tries[unit.repeat] > self._retries:
            retries = "1 retry" if self._retries == 1 else f"{self._retries} retries"
            self._give_up(unit, f"{why}, after {retries}" if self._retries else why)
        else:
            self._deal(unit)

    def _give_up(self, unit: Unit, why: str) -> None:
        self.given_up[unit.repeat] = (unit, why)
        del self._open[unit.repeat]
        for follower in [each for each in self._waiting if each.follows == unit.repeat]:
            self._waiting.remove(follower)
            self._give_up(follower, f"{unit.named} was not measured")
