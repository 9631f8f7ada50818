"""The three layers and the eight arms that they make.

An *arm* is one setting of the three layers. Everything else stays the same in all eight (that is the profile).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal

from labkit.core.names import pick

Layer = Literal["prefix_caching", "pd_split", "speculation"]
LAYERS: tuple[Layer, ...] = ("prefix_caching", "pd_split", "speculation")
_SHORT: dict[Layer, str] = {"prefix_caching": "prefix", "pd_split": "pd", "speculation": "spec"}


@dataclass(frozen=True, order=True)
class Arm:
    """One setting of the three layers; hashable, printed as its label."""

    prefix_caching: bool = False
    pd_split: bool = False
    speculation: bool = False

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers that are on, in the order of LAYERS."""
        return tuple(layer for layer in LAYERS if getattr(self, layer))

    @property
    def label(self) -> str:
        """`base`, `prefix`, `pd`, `spec`, `prefix+pd`, `prefix+spec`, `pd+spec` or `all`."""
        if len(self.layers) == len(LAYERS):
            return "all"
        return "+".join(_SHORT[layer] for layer in self.layers) or "base"

    def __str__(self) -> str:
        return self.label


ARMS: tuple[Arm, ...] = tuple(
    sorted((Arm(*on) for on in product((True, False), repeat=3)), key=lambda a: len(a.layers))
)
"""Base, then one layer, two, all; within that in the order of LAYERS: how every table and figure is ordered."""
BASE = Arm()


def arm_named(label: str) -> Arm:
    """The arm with this label. Raises UnknownName with the nearest labels."""
    return pick("arm", label, {arm.label: arm for arm in ARMS}, "labkit plan --help (the eight arms)")
