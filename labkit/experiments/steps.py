"""How does the cost of an agent grow with its steps, and what does prefix caching leave of it?

The same recording, cut after so many steps: each cut is a pass of its own under a fresh salt, so that no cut finds what
another one left. A recording that is shorter than a count is sent whole, once, and stands under its own length.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from labkit.core.arms import arm_named
from labkit.core.conditions import of_steps
from labkit.core.errors import BadInput
from labkit.core.records import Record
from labkit.experiments.design import Block, Design, Pass, blocks
from labkit.traffic.recording import Recording, named
from labkit.traffic.replay import ReplayOptions

LONG_RECORDING = "night-shifts"
"""The longest that comes with the lab: 33 steps."""


@dataclass(frozen=True, kw_only=True)
class StepsAsked(Record):
    """JSON-able: `run.json` keeps it under `asked`. Fields with a meaning in `Asked` have it here.

    `counts`: cut after so many steps. `mode`: pinned by default, since time and tokens are asked about and a scripted
    recording's natural replies have other lengths. `seed`: block-randomised arms, and the cuts shuffled within each
    repeat, the same in all arms; None: shortest cut first.
    """

    profile: str
    recordings: tuple[str, ...] = (LONG_RECORDING,)
    counts: tuple[int, ...] = (1, 5, 15, 30)
    arms: tuple[str, ...] = ("base", "prefix")
    repeats: int = 1
    seed: int | None = None
    history: Literal["recorded", "live"] = "recorded"
    mode: Literal["natural", "pinned"] = "pinned"
    spec_method: str | None = None
    strict: bool = False
    keep: bool = False
    job: str | None = None

    def design(self) -> Design:
        """Every cut of every recording in every block. Raises BadInput and UnknownName."""
        order = blocks([arm_named(label) for label in self.arms], self.repeats, self.seed)
        cuts = [cut for name in self.recordings for cut in self._cuts(named(name))]
        by_repeat = [self._shuffled(cuts, repeat) for repeat in range(self.repeats)]

        def passes(block: Block) -> Sequence[Pass]:
            return by_repeat[block.repeat]

        return Design(tuple(order), passes, fresh_starts=self.seed is not None)

    def _cuts(self, recording: Recording) -> list[Pass]:
        whole = len(recording.steps)
        if not self.counts or min(self.counts) < 1:
            raise BadInput("counts", list(self.counts), "one or more numbers of steps, each 1 or more")
        return [
            Pass(
                recording=recording,
                options=ReplayOptions(steps=count, history=self.history, mode=self.mode),
                condition=of_steps(count),
            )
            for count in sorted({min(count, whole) for count in self.counts})
        ]

    def _shuffled(self, cuts: Sequence[Pass], repeat: int) -> tuple[Pass, ...]:
        if self.seed is None:
            return tuple(cuts)
        return tuple(random.Random(f"{self.seed} {repeat}").sample(cuts, len(cuts)))

    def too_long(self) -> list[str]:
        """What was asked for and no recording has, one sentence a recording."""
        lengths = {name: len(named(name).steps) for name in self.recordings}
        return [
            f"{name} has {whole} steps, so it stands under {whole} in place of {_and(longer)}"
            for name, whole in lengths.items()
            if (longer := [count for count in sorted(self.counts) if count > whole])
        ]

    def in_words(self) -> str:
        """What was sent, and how, in one line."""
        cuts = f"cut after {_and(sorted(self.counts))} steps"
        order = "fixed order" if self.seed is None else f"block-randomised order (seed {self.seed})"
        said = f"{cuts}, {self.mode} replay, {self.history} history, {order}"
        return "; ".join([said, *self.too_long()])


def _and(counts: Sequence[int]) -> str:
    words = [str(count) for count in counts]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def counts_of(text: str) -> tuple[int, ...]:
    """`1,5,15` as numbers. Raises BadInput."""
    words = [part.strip() for part in text.split(",") if part.strip()]
    if not words or not all(word.isdigit() and int(word) > 0 for word in words):
        raise BadInput("counts", text, "numbers of steps with commas between, such as 1,5,15,30")
    return tuple(int(word) for word in words)
