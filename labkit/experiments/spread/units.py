"""What is spread: complete repeats. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from labkit.experiments.design import Design


@dataclass(frozen=True)
class Unit:
    """The blocks of one repeat, which one node measures in their order.

    `numbers`: of the blocks in the design. `follows`: the repeat whose node must measure this one, too, since it is
    compared with that one: so does the block at the end that shows drift. None: any node may.
    """

    repeat: int
    numbers: tuple[int, ...]
    labels: tuple[str, ...]
    follows: int | None = None

    @property
    def named(self) -> str:
        """`repeat 2 (base, prefix)`, counted from 1 as people do."""
        what = f"repeat {self.repeat + 1}" if self.follows is None else "the block that shows drift"
        return f"{what} ({', '.join(self.labels)})"


def units(design: Design) -> list[Unit]:
    """Every repeat of the design, in order. The block that shows drift follows the first."""
    repeats = list(dict.fromkeys(block.repeat for block in design.blocks))
    return [_unit(design, repeat, repeats[0]) for repeat in repeats]


def _unit(design: Design, repeat: int, first: int) -> Unit:
    numbers = tuple(number for number, block in enumerate(design.blocks) if block.repeat == repeat)
    labels = tuple(design.blocks[number].label for number in numbers)
    drift = any(design.blocks[number].shows_drift for number in numbers)
    return Unit(repeat, numbers, labels, first if drift else None)


def only(design: Design, numbers: Iterable[int]) -> Design:
    """The design with nothing left to do but these blocks; they keep their numbers."""
    kept = frozenset(numbers)
    done = {
        (n, at) for n, block in enumerate(design.blocks) if n not in kept for at in range(len(design.passes(block)))
    }
    return dataclasses.replace(design, done=design.done | done)
