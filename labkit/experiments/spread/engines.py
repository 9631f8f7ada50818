"""What serves on a node: each node makes its own provider from one recipe that travels to it.

Engines listen on 127.0.0.1 of their node, and whoever asks them runs there. An address that was attached is read on the
node, too: 127.0.0.1 is the node itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

from labkit.core.arms import Arm
from labkit.core.errors import EngineBusy, UnknownName
from labkit.core.paths import state_dir
from labkit.core.progress import OnProgress, silent
from labkit.engines.fleet import Fleet
from labkit.engines.process import is_alive
from labkit.engines.profiles import Profile
from labkit.experiments.fleet_provider import FleetProvider
from labkit.experiments.serving import EngineProvider, Served

Recipe = Callable[[str], EngineProvider]
"""Given a node's name, called on it: what serves there. It is pickled to get there."""


@dataclass(frozen=True)
class FleetOnNode:
    """The fleet of the node: its registry, locks and logs stand apart from another node's, also in a shared home."""

    profile: Profile
    spec_method: str | None = None
    strict: bool = False

    def __call__(self, node: str) -> EngineProvider:
        fleet = Fleet(state_dir() / "nodes" / node)
        end_left(fleet)
        return FleetProvider(fleet, self.profile, spec_method=self.spec_method, strict=self.strict)


def end_left(fleet: Fleet) -> list[str]:
    """End what is up, half started or half gone and whose starter is gone, as after a kill of the driver.

    It would take time from what is measured next. Ray ends a worker's own children with it, and not their children.
    """
    ended = []
    for engine in [each for each in fleet.ps() if not is_alive(each.owner) and not fleet.adopted(each)]:
        with suppress(EngineBusy, UnknownName):
            ended += [each.id for each in fleet.down(engine.id)]
    return ended


@dataclass(frozen=True)
class Attached:
    """Engines that run already, under the same addresses on every node."""

    provider: EngineProvider

    def __call__(self, node: str) -> EngineProvider:
        return self.provider


class NamedProvider:
    """EngineProvider whose engines are called `<node>/<engine>`: rows, events and samples say where they come from."""

    def __init__(self, node: str, inner: EngineProvider) -> None:
        self._node, self._inner = node, inner

    def fingerprint(self, arms: Sequence[Arm]) -> dict[str, Any]:
        return self._inner.fingerprint(arms)

    def starts(
        self, arms: Sequence[Arm], spec_methods: Sequence[str | None] = (), *, fresh: bool = False
    ) -> list[float]:
        return self._inner.starts(arms, spec_methods, fresh=fresh)

    async def renew(self) -> None:
        await self._inner.renew()

    async def serve(self, arm: Arm, on_progress: OnProgress = silent, spec_method: str | None = None) -> Served:
        served = await self._inner.serve(arm, on_progress, spec_method)
        neighbours = tuple(f"{self._node}/{other}" for other in served.neighbours)
        return dataclasses.replace(served, engine=f"{self._node}/{served.engine}", neighbours=neighbours)

    def locked(self, served: Served, owner: str) -> AbstractContextManager[object]:
        return self._inner.locked(self._own(served), owner)

    def check(self, served: Served) -> None:
        self._inner.check(self._own(served))

    async def close(self, *, keep: bool) -> list[str]:
        return [f"{self._node}/{engine}" for engine in await self._inner.close(keep=keep)]

    def _own(self, served: Served) -> Served:
        return dataclasses.replace(served, engine=served.engine.removeprefix(f"{self._node}/"))
