"""Do agents get in each other's way, and does splitting prefill from decode help? Each arm under rising load.

Every level of every arm is a steady window (see `load`). One agent alone is the arm's own yardstick: what a gap between
chunks is without company decides what a stall is (see `analysis.stalls`).
"""

from __future__ import annotations

from dataclasses import dataclass

from labkit.core.errors import BadInput
from labkit.experiments.design import Block, Design
from labkit.experiments.load import LoadPass
from labkit.experiments.load_asked import LoadAsked


@dataclass(frozen=True, kw_only=True)
class InterferenceAsked(LoadAsked):
    """`agents`: the levels, in the order in which they are measured; 1 must be one of them."""

    agents: tuple[int, ...] = (1, 2, 4)

    def design(self) -> Design:
        """Every level in every block. Raises BadInput and UnknownName."""
        if 1 not in self.agents:
            raise BadInput("agents", self.agents, "1 among them: an arm is judged against one agent alone")
        levels = tuple(self.load(agents) for agents in self.agents)

        def passes(_: Block) -> tuple[LoadPass, ...]:
            return levels

        return Design(self.order(self.repeats), passes, fresh_starts=self.order_seed is not None)
