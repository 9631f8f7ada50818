"""How long a run still takes: learned from its own steps and engine starts, from guesses until there are any. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean

GUESS_STEP_S = 6.0
GUESS_START_S: Mapping[bool, float] = {False: 32.0, True: 62.0}
"""Seconds that an engine takes to start, colocated and split (seen on two cores; replaced by what this run sees)."""


@dataclass
class Forecast:
    """What is left to do, and what such things took so far. Mutable: the runner tells it what happened."""

    steps_left: dict[str, int]
    starts_left: list[bool]
    """One entry per engine that must still start; True when it is split into prefill and decode."""
    _steps: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    _starts: dict[bool, list[float]] = field(default_factory=lambda: defaultdict(list))

    def step_took(self, arm: str, seconds: float) -> None:
        self._steps[arm].append(seconds)
        self.steps_left[arm] = max(0, self.steps_left.get(arm, 0) - 1)

    def start_took(self, split: bool, seconds: float) -> None:
        self._starts[split].append(seconds)
        if split in self.starts_left:
            self.starts_left.remove(split)

    def drop(self, arm: str) -> None:
        """This arm will not be measured (any more)."""
        self.steps_left[arm] = 0

    def eta_s(self) -> float:
        """Seconds left: each arm's own mean step (else the mean of all), plus the engines that must still start."""
        steps = sum(left * self._step_s(arm) for arm, left in self.steps_left.items())
        return steps + sum(self._start_s(split) for split in self.starts_left)

    def _step_s(self, arm: str) -> float:
        return _mean(self._steps.get(arm, ()), _mean((s for some in self._steps.values() for s in some), GUESS_STEP_S))

    def _start_s(self, split: bool) -> float:
        return _mean(self._starts.get(split, ()), GUESS_START_S[split])


def _mean(values: Iterable[float], otherwise: float) -> float:
    known = list(values)
    return fmean(known) if known else otherwise
