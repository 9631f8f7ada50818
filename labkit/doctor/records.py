"""What the doctor says: one record per check, and all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from labkit.core.records import Record

Status = Literal["fail", "warn", "unknown", "ok"]
STATUSES: tuple[Status, ...] = get_args(Status)
"""Worst first: the order in which they are read."""
Extent = Literal["all", "some", "none"]
Area = Literal["environment", "GPU node", "memory", "prompt prefix", "transfer"]
AREAS: dict[Area, str] = {
    "environment": "What is installed here, and whether this machine can time an engine.",
    "GPU node": "Whether GPUs, driver, rights and the engine's build are those that the profile was made for.",
    "memory": "Which arms fit beside what is up.",
    "prompt prefix": "Whether each request of a recording extends the one before, byte for byte: a prefix cache serves "
    "nothing after the first difference.",
    "transfer": "Whether what carries KV blocks from prefill to decode is here. Bytes, milliseconds and failures of "
    "the transfers themselves stand on the Layers page of a run with a split arm.",
}
"""Area to what it answers, in the order of the page."""


@dataclass(frozen=True, kw_only=True)
class Check(Record):
    """One thing that was looked at.

    `found`: what is there, in words. `why`: why it matters. `todo`: the next step, empty when there is none; `command`:
    the same as a line for a shell, where there is one. `unknown`: it cannot be told here, which is no fault. `stops`:
    labels of the arms that cannot run because of it; None: all of them when it failed, and none otherwise.
    """

    name: str
    area: Area
    status: Status
    found: str
    why: str
    todo: str = ""
    command: str = ""
    stops: tuple[str, ...] | None = None

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        stops = data.get("stops")
        return super().from_dict({**data, "stops": None if stops is None else tuple(stops)})


@dataclass(frozen=True, kw_only=True)
class Stop(Record):
    """Why some arms of a profile cannot run here: the check that says so, in its words, and what mends it."""

    check: str
    found: str
    command: str
    arms: tuple[str, ...]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return super().from_dict({**data, "arms": tuple(data["arms"])})


@dataclass(frozen=True, kw_only=True)
class Runnable(Record):
    """What of one profile can be run on this machine now. `arms`: labels; `stops`: what is in the way of the others.

    `sentence`: both in words, for one line.
    """

    profile: str
    arms: tuple[str, ...]
    stops: tuple[Stop, ...]
    sentence: str

    @property
    def extent(self) -> Extent:
        """How much of the profile that is."""
        return "none" if not self.arms else "some" if self.stops else "all"

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        stops = tuple(Stop.from_dict(stop) for stop in data["stops"])
        return super().from_dict({**data, "arms": tuple(data["arms"]), "stops": stops})


@dataclass(frozen=True, kw_only=True)
class Report(Record):
    """All checks of one look. `checked`: ISO time in UTC; `took_s`: seconds, reading the machine included.

    `runnable`: every shipped profile, where that was asked, by the same checks.
    """

    profile: str
    checked: str
    took_s: float
    checks: tuple[Check, ...]
    runnable: tuple[Runnable, ...] = ()

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        checks = tuple(Check.from_dict(check) for check in data["checks"])
        runnable = tuple(Runnable.from_dict(each) for each in data.get("runnable", ()))
        return super().from_dict({**data, "checks": checks, "runnable": runnable})

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
