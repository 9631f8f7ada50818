"""What was asked for besides the profile, when processes are laid out."""

from __future__ import annotations

from dataclasses import dataclass

from labkit.core.arms import Arm


@dataclass(frozen=True)
class Choice:
    """`method`: the drafter of the whole experiment. `model`: what the engine is to load. `cores`: CPUs, for a CPU's
    profile. `python`: labkit's interpreter."""

    arm: Arm
    method: str
    salted: bool
    model: str
    cores: tuple[int, ...]
    python: str
