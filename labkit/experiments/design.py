"""What is measured when: arms, repeats and a seed in, an ordered list of blocks out. Pure.

A run is a list of blocks. A block is one engine served, warmed up, and measured over its passes; a pass is a recording
sent once. Every block of a run has the same passes, unless the experiment is about what they differ in.

Two orders. `seed=None` is the fixed order of a quick look: arms that can share an engine stand side by side, so that
engines are started as few times as possible; a drift of the machine then looks like an effect, and nothing can tell the
two apart. A seed gives block-randomised order: every repeat holds every arm once, shuffled, so that drift falls on all;
and every block gets an engine start of its own, since one start is slower or faster than another as a whole.
`drift_check` appends the first arm once more, to see how much the machine drifted from start to end.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from labkit.core.arms import ARMS, Arm
from labkit.core.errors import BadInput
from labkit.core.records import Cache
from labkit.traffic.recording import Recording
from labkit.traffic.replay import ReplayOptions


@dataclass(frozen=True)
class Block:
    """One arm measured once over all its passes. `repeat` counts the blocks of this arm, from 0.

    `spec_method`: the drafter, where it is not the one that the whole run uses. `shows_drift`: it measures its arm once
    more at the end, to be held against the first repeat.
    """

    arm: Arm
    repeat: int
    spec_method: str | None = None
    shows_drift: bool = False

    @property
    def label(self) -> str:
        """The arm's label, and the drafter's name where the block has one of its own."""
        return f"{self.arm.label} {self.spec_method}" if self.spec_method else self.arm.label


@dataclass(frozen=True, kw_only=True)
class Pass:
    """One recording sent once, on the engine of its block.

    `condition` and `cache`: as in StepRecord. A warm pass follows the cold one of the same recording and condition and
    has its salt. `agents`: how many replay at once; more than one make a LoadPass (see `load`).
    """

    recording: Recording
    options: ReplayOptions = field(default_factory=ReplayOptions)
    condition: str = ""
    cache: Cache = "cold"
    agents: int = 1

    @property
    def count(self) -> int:
        """Steps that it sends."""
        return self.agents * self.options.count(self.recording)

    @property
    def sends(self) -> tuple[tuple[Recording, int], ...]:
        """The recordings that it sends, and how many steps of each."""
        return ((self.recording, self.options.count(self.recording)),)


@dataclass(frozen=True)
class Design:
    """A run's blocks in order, and what each of them sends.

    `fresh_starts`: every block has a start of its engine to itself, so that blocks show what starts differ by; else
    blocks that can share an engine do, and repeats of an arm are one start seen several times.
    `done`: passes that an earlier part of the run has finished, as (number of the block, number of its pass).
    """

    blocks: tuple[Block, ...]
    passes: Callable[[Block], Sequence[Pass]]
    done: frozenset[tuple[int, int]] = frozenset()
    fresh_starts: bool = False

    def left(self, number: int) -> list[tuple[int, Pass]]:
        """The passes of the `number`-th block that are still to be made, with their numbers."""
        passes = enumerate(self.passes(self.blocks[number]))
        return [(place, each) for place, each in passes if (number, place) not in self.done]

    def count(self, number: int) -> int:
        """Steps that the block still sends, warm-up left out."""
        return sum(each.count for _, each in self.left(number))

    @property
    def total(self) -> int:
        """Steps of the whole run, those that are done included."""
        return sum(each.count for block in self.blocks for each in self.passes(block))

    @property
    def labels(self) -> list[str]:
        """What is measured, each once, in the order of its first block."""
        return list(dict.fromkeys(block.label for block in self.blocks))


def blocks(arms: Sequence[Arm], repeats: int = 1, seed: int | None = None, drift_check: bool = False) -> list[Block]:
    """The order of the run. Raises BadInput without arms, with an arm twice, or with less than one repeat."""
    _check(arms, repeats)
    order = _shuffled(arms, repeats, seed) if seed is not None else _grouped(arms, repeats)
    if drift_check:
        order.append(Block(order[0].arm, repeats, shows_drift=True))
    return order


def _check(arms: Sequence[Arm], repeats: int) -> None:
    if not arms:
        raise BadInput("arms", [], "at least one of " + ", ".join(arm.label for arm in ARMS))
    if len(set(arms)) < len(arms):
        raise BadInput("arms", [arm.label for arm in arms], "each arm once", "Ask for repeats to measure an arm again.")
    if repeats < 1:
        raise BadInput("repeats", repeats, "1 or more")


def _grouped(arms: Sequence[Arm], repeats: int) -> list[Block]:
    """Colocated before split, plain before speculation, and without prefix caching first: 4 engines for 8 arms."""
    ordered = sorted(arms, key=lambda arm: (arm.pd_split, arm.speculation, arm.prefix_caching))
    return [Block(arm, repeat) for arm in ordered for repeat in range(repeats)]


def _shuffled(arms: Sequence[Arm], repeats: int, seed: int) -> list[Block]:
    """The same seed and arms give the same order, whatever order the arms were named in."""
    dice = random.Random(seed)
    order = []
    for repeat in range(repeats):
        batch = sorted(arms)
        dice.shuffle(batch)
        order += [Block(arm, repeat) for arm in batch]
    return order
