"""What is compared with what: the terms of the 2x2x2 as weights on the log values of its arms. Pure.

A layer's effect is the mean, over the settings of the other layers, of `log(without) - log(with)`: the log of a gain.
An interaction is how much that differs when another layer is on: 0 when gains multiply. Arms that did not run are left
out pair by pair (square by square for an interaction), so the term is about the pairs that remain, and says which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from labkit.analysis.tables import Floats
from labkit.core.arms import ARMS, BASE, LAYERS, Arm, Layer

TERMS: tuple[tuple[Layer, ...], ...] = tuple(
    term for size in range(1, len(LAYERS) + 1) for term in combinations(LAYERS, size)
)
"""Main effects, two-way and three-way interactions, in the order of LAYERS."""


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of the arms' log values. `missing`: arms without which nothing can be said; then no weights."""

    name: str
    weights: dict[str, float]
    missing: tuple[str, ...] = ()

    @property
    def arms(self) -> tuple[str, ...]:
        """What it is about: arms in the order of ARMS, then any others as they were given."""
        known = [arm.label for arm in ARMS if arm.label in self.weights]
        return (*known, *(name for name in self.weights if name not in known))

    @property
    def square(self) -> float:
        """Sum of the squared weights: the variance of the contrast for a variance of 1 in each arm."""
        return sum(weight**2 for weight in self.weights.values())

    def of(self, logs: Floats, arms: Sequence[str]) -> Floats:
        """The contrast along the last axis of `logs`, whose columns are `arms`."""
        weights = np.array([self.weights.get(arm, 0.0) for arm in arms])
        return np.asarray(logs @ weights, dtype=np.float64)


def term_contrasts(measured: Sequence[str], sent: Sequence[str] = ()) -> list[Contrast]:
    """All seven terms, from the arms that were measured; `sent` changes nothing."""
    return [_term(layers, set(measured)) for layers in TERMS]


def arm_contrasts(measured: Sequence[str], sent: Sequence[str]) -> list[Contrast]:
    """Every arm but base against base, of those that were `sent` any step."""
    others = [arm.label for arm in ARMS if arm.label in sent and arm != BASE]
    return [_against_base(arm, [one for one in (BASE.label, arm) if one not in measured]) for arm in others]


def _against_base(arm: str, missing: Sequence[str]) -> Contrast:
    return Contrast(arm, {} if missing else {BASE.label: 1.0, arm: -1.0}, tuple(missing))


def _term(layers: tuple[Layer, ...], measured: set[str]) -> Contrast:
    cells = [_cell(layers, rest) for rest in _settings(tuple(one for one in LAYERS if one not in layers))]
    kept = [cell for cell in cells if set(cell) <= measured]
    name = ":".join(layers)
    if not measured:
        return Contrast(name, {})
    if not kept:
        fewest = min(cells, key=lambda cell: len(set(cell) - measured))
        return Contrast(name, {}, tuple(arm.label for arm in ARMS if arm.label in set(fewest) - measured))
    return Contrast(name, {arm: sign / len(kept) for cell in kept for arm, sign in cell.items()})


def _cell(layers: tuple[Layer, ...], rest: dict[Layer, bool]) -> dict[str, float]:
    """The arms that vary only in `layers`, with their signs: + where an odd number of these is off."""
    return {
        Arm(**{**own, **rest}).label: 1.0 if sum(not on for on in own.values()) % 2 else -1.0
        for own in _settings(layers)
    }


def _settings(layers: tuple[Layer, ...]) -> list[dict[Layer, bool]]:
    return [dict(zip(layers, on, strict=True)) for on in product((False, True), repeat=len(layers))]
