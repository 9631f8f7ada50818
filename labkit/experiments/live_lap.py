"""Which lap comes next: the planned arms in turn; once somebody has steered the run, the arm that was wished for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from labkit.core.arms import Arm
from labkit.core.conditions import of_toggled


@dataclass(frozen=True, kw_only=True)
class Lap:
    """Every agent once through. `repeat`: which lap of this arm it is, from 0; a lap of base pairs with its own."""

    arm: Arm
    repeat: int

    def condition(self, toggled: bool) -> str:
        """Of a step in it: a toggled one never pairs with one that was served as planned."""
        return of_toggled(self.arm.label) if toggled else ""


@dataclass
class Laps:
    """The laps of a run. `each`: of every arm; 0: without end. Mutable."""

    arms: Sequence[Arm]
    each: int
    _number: int = field(default=0, init=False)
    _begun: Counter[Arm] = field(default_factory=Counter, init=False)

    @property
    def total(self) -> int | None:
        """How many there are in all; None: without end."""
        return self.each * len(self.arms) or None

    @property
    def left(self) -> int | None:
        """How many have not begun; None: without end."""
        return None if self.total is None else self.total - self._number

    def next(self, steered: Arm | None = None, lost: Container[str] = ()) -> Lap | None:
        """The next lap, of the arm that was steered to; arms that are lost are passed over. None: none is left."""
        passed_over = 0
        while self._number != self.total and passed_over < len(self.arms):
            arm = steered or self.arms[self._number % len(self.arms)]
            self._number += 1
            if arm.label not in lost:
                self._begun[arm] += 1
                return Lap(arm=arm, repeat=self._begun[arm] - 1)
            passed_over += 1
        return None
