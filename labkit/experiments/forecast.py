"""How long a run still takes: learned from its own steps and engine starts, from guesses until there are any. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean

GUESS_STEP_S = 4.0
"""Seconds of a step before this run has seen one."""


@dataclass
class Forecast:
    """What is left to do, and what such things took so far. Mutable: the runner tells it what happened.

    `steps_left`: by arm. `starts`: for each block, seconds of the engine start before it; 0 where none is needed.
    `expected`: seconds of a step by arm, as far as they are known from elsewhere, until the arm has steps of its own.
    """

    steps_left: dict[str, int]
    starts: list[float]
    expected: Mapping[str, float] = field(default_factory=dict)
    _steps: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def step_took(self, arm: str, seconds: float) -> None:
        self._steps[arm].append(seconds)
        self.steps_left[arm] = max(0, self.steps_left.get(arm, 0) - 1)

    def start_left(self, block: int, seconds: float) -> None:
        """The engine before this block takes so much longer; 0 once it is up, or will not come."""
        self.starts[block] = max(0.0, seconds)

    def drop(self, arm: str) -> None:
        """This arm will not be measured (any more)."""
        self.steps_left[arm] = 0

    def eta_s(self) -> float:
        """Seconds left: each arm's mean step (own, expected, or of all), plus the engines that must still start."""
        return sum(self.starts) + sum(left * self._step_s(arm) for arm, left in self.steps_left.items())

    def _step_s(self, arm: str) -> float:
        of_all = _mean((seconds for some in self._steps.values() for seconds in some), GUESS_STEP_S)
        return _mean(self._steps.get(arm, ()), self.expected.get(arm, of_all))


def _mean(values: Iterable[float], otherwise: float) -> float:
    known = list(values)
    return fmean(known) if known else otherwise
