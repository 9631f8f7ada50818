"""What is known, as data: cells in tables, a table for the profile and for each of its variants."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from labkit.core.records import Record

Status = Literal["measured here", "measured elsewhere", "accepted", "refused", "not tried"]
STATUSES: tuple[Status, ...] = ("measured here", "measured elsewhere", "accepted", "refused", "not tried")


@dataclass(frozen=True, kw_only=True)
class KnownCell(Record):
    """One cell. `words`: what it says, whole. `said`: a refusal in the engine's words, or why nothing was tried.

    `plan`: key of the plan. `run`, `machine`, `steps`: of the run that measured or was refused; else empty and 0.
    `reached`: the engine's checks that let every process through.
    """

    arm: str
    layers: tuple[str, ...]
    method: str | None
    connector: str | None
    plan: str
    status: Status
    words: str
    said: str = ""
    run: str = ""
    machine: str = ""
    steps: int = 0
    reached: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class KnownTable(Record):
    """The cells of a profile or of its variant. `profile`: what a run is asked for; `transfer`: what carries the KV."""

    profile: str
    variant: str | None
    about: str
    transfer: str
    cells: tuple[KnownCell, ...]


@dataclass(frozen=True, kw_only=True)
class Known(Record):
    """The whole matrix. `version`, `platform`, `asked_on`: of the engine that was asked; None where none was."""

    profile: str
    title: str
    vendor: str
    engine: str
    version: str | None
    platform: str | None
    asked_on: str | None
    tables: tuple[KnownTable, ...]

    @property
    def cells(self) -> tuple[KnownCell, ...]:
        return tuple(cell for table in self.tables for cell in table.cells)

    @property
    def counts(self) -> dict[str, int]:
        """How many cells say what, in the order of STATUSES, nothing left out."""
        found = Counter(cell.status for cell in self.cells)
        return {status: found[status] for status in STATUSES}
