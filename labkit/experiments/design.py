"""Which arm is measured when: arms, repeats and a seed in, an ordered list of blocks out. Pure.

Two orders. `seed=None` is the fixed order of a quick look: arms that can share an engine stand side by side, so that
engines are started as few times as possible; a drift of the machine then looks like an effect, and nothing can tell the
two apart. A seed gives block-randomised order: every repeat holds every arm once, shuffled, so that drift falls on all.
`drift_check` appends the first arm once more, to see how much the machine drifted from start to end.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from labkit.core.arms import ARMS, Arm
from labkit.core.errors import BadInput


@dataclass(frozen=True)
class Block:
    """One pass of one arm over the recording. `repeat` counts the passes of this arm, from 0."""

    arm: Arm
    repeat: int


def blocks(arms: Sequence[Arm], repeats: int = 1, seed: int | None = None, drift_check: bool = False) -> list[Block]:
    """The order of the run. Raises BadInput without arms, with an arm twice, or with less than one repeat."""
    _check(arms, repeats)
    order = _shuffled(arms, repeats, seed) if seed is not None else _grouped(arms, repeats)
    if drift_check:
        order.append(Block(order[0].arm, repeats))
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
