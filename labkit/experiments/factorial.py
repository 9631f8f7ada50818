"""The factorial: all eight arms on the same requests of several recordings, so that each layer's gain has an interval.

Every block is one arm served once, over the same passes: each recording once cold and, if asked, once more warm right
after. Blocks come in random order within each repeat, from a seed that is always there, so that what drifts on the
machine falls on all arms alike; each is a new start of its engine, since starts differ, too. The first arm is measured
once more at the end, to see how much the machine drifted. An arm that the engine refuses is left out openly: the run is
partial, its note says why, and the effects are of what ran.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Literal

from labkit.core.arms import ARMS, arm_named
from labkit.core.errors import BadInput
from labkit.core.records import Record
from labkit.experiments.design import Block, Design, Pass, blocks
from labkit.traffic.recording import Recording, named
from labkit.traffic.replay import ReplayOptions

NAME = "factorial"
FACTORIAL_ARMS = tuple(arm.label for arm in ARMS)
FACTORIAL_STEPS = 5
FACTORIAL_REPEATS = 2
"""The fewest that can tell a layer from a slow start of an engine."""
FACTORIAL_RECORDINGS = (
    "evict-one-late-live",
    "minutes-or-months",
    "quoted-newlines",
    "ranks-that-jump-live",
    "shared-patience",
    "wide-letters-live",
)
"""One of each task, since tasks are what the intervals are over: what the default model decided itself, where there is
such a recording, else the script's."""
_SEEDS = 1_000_000


def drawn_seed() -> int:
    """A seed for somebody who did not name one; it is kept with the run."""
    return secrets.randbelow(_SEEDS)


@dataclass(frozen=True, kw_only=True)
class FactorialAsked(Record):
    """What a factorial was asked to do. Fields with a meaning in `Asked` have it here.

    `steps`: only the first so many of each recording; 0: all. `warm`: a warm pass after each cold one.
    """

    profile: str
    recordings: tuple[str, ...] = FACTORIAL_RECORDINGS
    arms: tuple[str, ...] = FACTORIAL_ARMS
    steps: int = FACTORIAL_STEPS
    repeats: int = FACTORIAL_REPEATS
    seed: int
    warm: bool = False
    drift_check: bool = True
    history: Literal["recorded", "live"] = "recorded"
    mode: Literal["natural", "pinned"] = "natural"
    gaps: bool = False
    spec_method: str | None = None
    strict: bool = False
    keep: bool = False
    job: str | None = None

    def in_words(self) -> str:
        """What the times mean: how it was replayed, in one line."""
        gaps = "recorded gaps slept" if self.gaps else "gaps left out"
        caches = "each pass cold, then warm" if self.warm else "every pass cold"
        order = f"block-randomised order (seed {self.seed})"
        return f"{self.mode} replay, {self.history} history, {gaps}, {caches}, {order}"

    def blocks(self) -> list[Block]:
        """What is measured, in order. Raises BadInput and UnknownName."""
        return blocks([arm_named(label) for label in self.arms], self.repeats, self.seed, self.drift_check)

    def design(self) -> Design:
        """The same passes in every block. Raises BadInput and UnknownName."""
        options = ReplayOptions(steps=self.steps or None, history=self.history, mode=self.mode, gaps=self.gaps)
        cold = [Pass(recording=recording, options=options) for recording in self._recordings()]
        passes = tuple(each for one in cold for each in (one, _warm(one))[: 2 if self.warm else 1])
        return Design(tuple(self.blocks()), lambda _: passes, fresh_starts=True)

    def _recordings(self) -> list[Recording]:
        loaded = [named(name) for name in self.recordings]
        names = [recording.header.name for recording in loaded]
        if not names or len(set(names)) < len(names):
            hint = "Ask for repeats to send one again. List them with: labkit recordings"
            raise BadInput("recordings", names, "different recordings, at least one", hint)
        return loaded


def _warm(cold: Pass) -> Pass:
    return Pass(recording=cold.recording, options=cold.options, cache="warm")
