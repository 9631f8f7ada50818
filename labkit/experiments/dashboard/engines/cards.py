"""What the Engines page shows, as records: small, frozen, the same to every tab."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["up", "held", "starting", "ending", "left", "orphaned", "dead"]
REMAINS: tuple[State, ...] = ("left", "orphaned", "dead")
"""What a crash left behind: nobody who started it will end it."""


@dataclass(frozen=True, kw_only=True)
class ProcessLine:
    """One process. `cores`, `rss` (bytes): null when it is gone or was not looked at before."""

    role: str
    pid: int
    port: int
    alive: bool
    cores: float | None
    rss: int | None


@dataclass(frozen=True, kw_only=True)
class EngineCard:
    """One engine. `words`: its state as it is shown; `since`: ISO time in UTC; `share`: of the start, 0 to 1.

    `holder_run`: id of the run that holds it, where it is a run of this store; `serves`: the arms that share it, and
    how; `kept`: why it cannot be ended, empty when it can; `trouble`: why the last try to end it failed.
    """

    id: str
    arm: str
    profile: str
    method: str | None
    state: State
    words: str
    since: str
    age_s: float
    address: str
    model: str
    holder: str | None
    holder_run: str | None
    serves: str
    processes: tuple[ProcessLine, ...]
    share: float | None = None
    kept: str = ""
    trouble: str = ""

    @property
    def rss(self) -> int | None:
        """Resident bytes of all its processes; null when none could be read."""
        known = [process.rss for process in self.processes if process.rss is not None]
        return sum(known) if known else None


@dataclass(frozen=True, kw_only=True)
class Pending:
    """A start that the page asked for and that is not in the fleet yet."""

    profile: str
    arm: str
    words: str


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A start that the page asked for and that failed, in the engine's words."""

    profile: str
    arm: str
    words: str
    ago: str


@dataclass(frozen=True, kw_only=True)
class FleetView:
    """Everything about the fleet at one moment."""

    cards: tuple[EngineCard, ...]
    pending: tuple[Pending, ...]
    refused: tuple[Refused, ...]

    @property
    def remains(self) -> tuple[EngineCard, ...]:
        """What a crash left behind and nobody uses."""
        return tuple(card for card in self.cards if card.state in REMAINS and not card.kept)

    @property
    def endable(self) -> tuple[EngineCard, ...]:
        """What nobody holds."""
        return tuple(card for card in self.cards if not card.kept and card.state != "ending")
