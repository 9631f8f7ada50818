"""What the doctor says: one record per check, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from labkit.core.records import Record

Status = Literal["fail", "warn", "unknown", "ok"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""Worst first: the order in which they are read."""
Area = Literal["environment", "memory", "prompt prefix", "transfer"]
AREAS: dict[Area, str] = {
    "environment": "What is installed here, and whether this machine can time an engine.",
    "memory": "Which arms fit beside what is up.",
    "prompt prefix": "Whether each request of a recording extends the one before, byte for byte: a prefix cache serves "
    "nothing after the first difference.",
    "transfer": "Whether KV blocks arrive: bytes, milliseconds and failures of the transfers from prefill to decode. "
    "Not checked yet: the Layers page shows them for a run of a split arm.",
}
"""Area to what it answers, in the order of the page."""


@dataclass(frozen=True, kw_only=True)
class Check(Record):
    """One thing that was looked at.

    `found`: what is there, in words. `why`: why it matters. `todo`: the next step, empty when there is none; `command`:
    the same as a line for a shell, where there is one. `unknown`: it cannot be told here, which is no fault.
    """

    name: str
    area: Area
    status: Status
    found: str
    why: str
    todo: str = ""
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class Report(Record):
    """All checks of one look. `checked`: ISO time in UTC; `took_s`: seconds, reading the machine included."""

    profile: str
    checked: str
    took_s: float
    checks: tuple[Check, ...]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return super().from_dict({**data, "checks": tuple(Check.from_dict(check) for check in data["checks"])})

    @property
    def failed(self) -> bool:
        """Whether any check failed."""
        return any(check.status == "fail" for check in self.checks)

    def of(self, status: Status) -> tuple[Check, ...]:
        """The checks with this status, in the order in which they were made."""
        return tuple(check for check in self.checks if check.status == status)

    def in_area(self, area: Area) -> tuple[Check, ...]:
        """The checks of an area, worst first."""
        return tuple(check for status in STATUSES for check in self.of(status) if check.area == area)

    @property
    def summary(self) -> str:
        """`1 fails, 2 want attention, 1 cannot be told, 14 are fine`; what is not there is left out."""
        words = {"fail": "failed", "warn": "to look at", "unknown": "cannot be told here", "ok": "fine"}
        return ", ".join(f"{n} {words[status]}" for status in STATUSES if (n := len(self.of(status))))
