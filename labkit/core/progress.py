"""How long work tells its caller how far it is; the CLI draws it, the run folder keeps it, the app reads it there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Progress:
    """`stage`: what is going on (`starting pd`). `done` of `total` units; `eta_s` seconds left, None when unknown."""

    stage: str
    message: str = ""
    done: float | None = None
    total: float | None = None
    eta_s: float | None = None


OnProgress = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Nobody is watching."""
