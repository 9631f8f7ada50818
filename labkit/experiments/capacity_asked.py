"""What a search for capacity is asked, and which level it probes next. Pure, and light: the catalogue knows it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labkit.analysis.slo import Slo
from labkit.core.conditions import of_agents
from labkit.core.errors import BadInput
from labkit.experiments.design import Design
from labkit.experiments.load import AT_MOST, LoadPass
from labkit.experiments.load_asked import LoadAsked


@dataclass(frozen=True, kw_only=True)
class CapacityPass(LoadPass):
    """A search from one agent up to `max_agents`; each level gets `repeats` windows."""

    slo: Slo
    max_agents: int
    repeats: int = 1

    @property
    def count(self) -> int:
        """Seconds of the windows of the longest search there can be."""
        return probes_at_most(self.max_agents) * self.repeats * super().count

    def probe(self, agents: int, number: int) -> LoadPass:
        """The `number`-th window with so many agents."""
        return LoadPass(**{**given(self), "agents": agents, "number": number, "condition": of_agents(agents)})


def given(load: LoadPass) -> dict[str, Any]:
    """What a load was made with."""
    return {each.name: getattr(load, each.name) for each in dataclasses.fields(LoadPass) if each.init}


@dataclass(frozen=True, kw_only=True)
class CapacityAsked(LoadAsked):
    """`ttft`, `itl` (seconds) and `share`: the objective, as `analysis.goodput.Slo`. `max_agents`: where to stop."""

    arms: tuple[str, ...] = ("base", "prefix")
    ttft: float = 3.0
    itl: float = 0.5
    share: float = 0.9
    max_agents: int = 8

    @property
    def slo(self) -> Slo:
        """The objective. Raises BadInput."""
        return Slo(ttft_s=self.ttft, itl_s=self.itl, share=self.share)

    @property
    def order_seed(self) -> int | None:
        """None: its repeats are windows of one search, so each arm is measured once, in the fixed order."""
        return None

    def design(self) -> Design:
        """One search per arm. Raises BadInput and UnknownName."""
        if not 1 <= self.max_agents <= AT_MOST:
            raise BadInput("max_agents", self.max_agents, f"1 to {AT_MOST}")
        search = CapacityPass(
            **{**given(self.load(1)), "condition": ""}, slo=self.slo, max_agents=self.max_agents, repeats=self.repeats
        )
        return Design(self.order(1), lambda _: (search,))


def next_level(holds: Mapping[int, bool], most: int) -> int | None:
    """The level to probe next; None when it is known where the objective breaks, or that it does not up to `most`."""
    best = max((level for level, held in holds.items() if held), default=0)
    broken = min((level for level, held in holds.items() if not held and level > best), default=None)
    if broken is None:
        return None if best == most else min(max(1, 2 * best), most)
    return None if broken - best == 1 else (best + broken) // 2


def probes_at_most(most: int) -> int:
    """Levels of the longest search up to `most`: as if the objective broke at the worst place for it."""
    return max(len(_path(capacity, most)) for capacity in range(most + 1))


def _path(capacity: int, most: int) -> dict[int, bool]:
    holds: dict[int, bool] = {}
    while (level := next_level(holds, most)) is not None:
        holds[level] = level <= capacity
    return holds
