"""What a run under load was asked to do: the fields that `interference` and `capacity` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from labkit.core.arms import arm_named
from labkit.core.conditions import of_agents
from labkit.core.records import Record
from labkit.experiments.design import Block, blocks
from labkit.experiments.load import LoadPass
from labkit.traffic.recording import named
from labkit.traffic.replay import ReplayOptions

LOAD_RECORDINGS = ("ranks-that-jump-live", "evict-one-late-live", "wide-letters-live")
"""Decided by the default model itself, so that its natural replies are as short as they were recorded."""


@dataclass(frozen=True, kw_only=True)
class LoadAsked(Record):
    """JSON-able: `run.json` keeps it under `asked`. Fields with a meaning in `Asked` have it here.

    `recordings`: given to the agents round-robin. `window`: seconds in which requests that count are sent. `stagger`:
    seconds within which agents begin. `gaps`: wait for the recorded time of tools, as an agent does; without it the
    cache has less time to forget. `seed`: of the agents' moments to begin, and of the order of arms when there are
    repeats.
    """

    profile: str
    recordings: tuple[str, ...] = LOAD_RECORDINGS
    arms: tuple[str, ...] = ("prefix", "prefix+pd")
    window: float = 60.0
    stagger: float = 3.0
    steps: int | None = None
    repeats: int = 1
    seed: int = 0
    history: Literal["recorded", "live"] = "recorded"
    mode: Literal["natural", "pinned"] = "natural"
    gaps: bool = True
    spec_method: str | None = None
    strict: bool = False
    keep: bool = False
    job: str | None = None

    def load(self, agents: int) -> LoadPass:
        """The load of so many agents. Raises BadInput and UnknownName."""
        return LoadPass(
            recordings=tuple(named(name) for name in self.recordings),
            options=ReplayOptions(steps=self.steps, history=self.history, mode=self.mode, gaps=self.gaps),
            condition=of_agents(agents),
            agents=agents,
            window_s=self.window,
            stagger_s=self.stagger,
            seed=self.seed,
        )

    def in_words(self) -> str:
        """What was sent, and how, in one line."""
        gaps = "recorded gaps waited for" if self.gaps else "gaps left out"
        windows = f"windows of {self.window:g} s, agents begin at moments of seed {self.seed}"
        return f"{self.mode} replay, {self.history} history, {gaps}, {windows}, {self._order_in_words()}"

    @property
    def order_seed(self) -> int | None:
        """What the order of arms is drawn from; None: the fixed order, as with one repeat."""
        return self.seed if self.repeats > 1 else None

    def _order_in_words(self) -> str:
        seed = self.order_seed
        return "fixed order" if seed is None else f"block-randomised order (seed {seed})"

    def order(self, repeats: int) -> tuple[Block, ...]:
        """The arms, so many times; shuffled within each repeat when there are several. Raises BadInput, UnknownName."""
        arms = [arm_named(label) for label in self.arms]
        return tuple(blocks(arms, repeats, self.order_seed if repeats > 1 else None))
