"""What several agents send at once: who starts when, with which recording, and which of their steps count. Pure.

Closed loop: each agent sends its next request when the reply before it has ended (and its tool's time has passed, with
recorded gaps). An agent that has ended its recording starts the next one under a fresh salt, so that the load stays the
same until the window is over: a refill window. What was sent before every agent was at work (the ramp) and after the
window (the drain) is kept as a row and thrown away like a warm-up.

A window counts the requests that were *sent* in it, and lasts, under the full load, until the last of these has ended.
To count those that began and ended in it would leave out the long ones first.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from labkit.core.errors import BadInput
from labkit.experiments.design import Pass
from labkit.traffic.recording import Recording

AT_MOST = 512
"""Agents that one client process can be asked to play; far below that it is the client that is measured."""


@dataclass(frozen=True, kw_only=True)
class LoadPass(Pass):
    """`agents` that replay `recordings`, given round-robin, at once. `recording` is the first of them.

    `window_s`: how long requests that count are sent. `stagger_s`: agents begin within this time, at moments drawn from
    `seed`, so that they are not in step. `number`: which window of this load it is, when it is repeated.
    """

    recordings: tuple[Recording, ...]
    window_s: float = 60.0
    stagger_s: float = 3.0
    seed: int = 0
    number: int = 0
    recording: Recording = field(init=False)

    def __post_init__(self) -> None:
        """Raises BadInput for a load that cannot be made."""
        if not self.recordings:
            raise BadInput("recordings", self.recordings, "at least one", "List them with: labkit recordings")
        if not 1 <= self.agents <= AT_MOST:
            raise BadInput("agents", self.agents, f"1 to {AT_MOST}")
        for name in ("window_s", "stagger_s"):
            if getattr(self, name) < 0 or (name == "window_s" and self.window_s == 0):
                raise BadInput(name, getattr(self, name), "a number of seconds above 0")
        object.__setattr__(self, "recording", self.recordings[0])

    @property
    def count(self) -> int:
        """Seconds of the window: a load is planned by its time, and what it sends depends on the engine."""
        return max(1, round(self.window_s))

    @property
    def sends(self) -> tuple[tuple[Recording, int], ...]:
        """Every recording that may be sent, and how many steps of it."""
        return tuple((each, self.options.count(each)) for each in self.recordings)

    def recording_of(self, agent: int, life: int) -> Recording:
        """What an agent replays in its `life`-th life (from 0): the same in every arm."""
        return self.recordings[(agent + life) % len(self.recordings)]

    def offsets(self) -> tuple[float, ...]:
        """When each agent begins, in seconds from the first one's start; the first begins at once."""
        dice = random.Random(f"{self.seed}/{self.agents}/{self.number}")
        return (0.0, *sorted(dice.uniform(0.0, self.stagger_s) for _ in range(self.agents - 1)))


def agent_id(agent: int, life: int) -> str:
    """`2` for the first recording of agent 2, `2.1` for the next: each is an agent-run of its own."""
    return f"{agent}.{life}" if life else str(agent)


def levels_of(text: str) -> tuple[int, ...]:
    """`1,2,4` as numbers of agents. Raises BadInput."""
    try:
        levels = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        levels = ()
    if not levels or not all(1 <= level <= AT_MOST for level in levels) or len(set(levels)) < len(levels):
        raise BadInput("agents", text, f"different whole numbers from 1 to {AT_MOST}, with commas between: 1,2,4")
    return tuple(sorted(levels))
