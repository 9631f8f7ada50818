"""How long work tells its caller how far it is; the CLI draws it, the run folder keeps it, the app reads it there."""

from __future__ import annotations

import re
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

    @property
    def said(self) -> str:
        """`starting base: engine, 0 s of ~30 s`: stage and message, nothing said twice."""
        start = _START.fullmatch(self.message)
        message = f"{start['roles']}, {start['time']}" if start and self.stage.startswith("starting") else self.message
        return f"{self.stage}: {message}" if message else self.stage


_START = re.compile(r"starting \((?P<time>[^()]*)\): (?P<roles>.+)")


def time_left(eta_s: float | None) -> str:
    """`about 42 s left`, `about 3 min 05 s left`; empty when nobody knows."""
    if eta_s is None:
        return ""
    minutes, seconds = divmod(round(eta_s), 60)
    return f"about {minutes} min {seconds:02d} s left" if minutes else f"about {seconds} s left"


OnProgress = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Nobody is watching."""
