"""The doctor's report as the page tells it: the verdict in a sentence, and the checks in the order of their weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from labkit.doctor.records import AREAS, STATUSES, Area, Check, Report, Status
from labkit.experiments.dashboard.engines.logs import ago as seconds_ago
from labkit.experiments.dashboard.engines.words import size as in_words

MOST_BYTES = 2_000_000_000
"""Comparing more than this takes longer than anybody waits for a page; a terminal does it as well."""


@dataclass(frozen=True, kw_only=True)
class ByteCheck:
    """Comparing every byte of the weights. `here`: the page may do it; `words`: what it means, or why it may not."""

    here: bool
    words: str
    command: str = ""


def byte_check(profile: str, size: int | None) -> ByteCheck:
    """`size`: bytes of the weights; None where their checksums are not known."""
    if size is None:
        return ByteCheck(here=False, words="The weights of this profile come without checksums: nothing to compare.")
    if size > MOST_BYTES:
        words = f"The weights are {in_words(size)}: compare every byte of them from a terminal."
        return ByteCheck(here=False, words=words, command=f"labkit doctor --profile {profile} --thorough")
    return ByteCheck(here=True, words=f"Read every byte of the weights ({in_words(size)})")


@dataclass(frozen=True, kw_only=True)
class AreaView:
    """One area. `to_do`: checks that failed or want a look, worst first; `rest`: those that are fine or cannot be told.

    `about`: what the area answers, shown when it has no check.
    """

    name: Area
    about: str
    to_do: tuple[Check, ...]
    rest: tuple[Check, ...]

    @property
    def heading(self) -> str:
        """`environment: 1 failed, 2 to look at, 20 fine`."""
        checks = (*self.to_do, *self.rest)
        words: dict[Status, str] = {
            "fail": "failed",
            "warn": "to look at",
            "unknown": "cannot be told here",
            "ok": "fine",
        }
        counts = [f"{n} {words[status]}" for status in STATUSES if (n := sum(c.status == status for c in checks))]
        return f"{self.name}: {', '.join(counts)}" if counts else self.name


def areas(report: Report, further: Sequence[Check] = ()) -> list[AreaView]:
    """Every area in the order of the page. `further`: checks that were made beside the report."""
    return [_area(area, [*report.checks, *further]) for area in AREAS]


def _area(area: Area, checks: Sequence[Check]) -> AreaView:
    sorted_ = [check for status in STATUSES for check in checks if (check.area, check.status) == (area, status)]
    return AreaView(
        name=area,
        about=AREAS[area],
        to_do=tuple(check for check in sorted_ if check.status in ("fail", "warn")),
        rest=tuple(check for check in sorted_ if check.status in ("ok", "unknown")),
    )


def verdict(report: Report, further: Sequence[Check] = ()) -> tuple[Status, str]:
    """The worst status, and what it means, in a sentence."""
    checks = [*report.checks, *further]
    failed, warned = ([check.name for check in checks if check.status == status] for status in ("fail", "warn"))
    if failed:
        return "fail", f"Not ready: {_named(failed)} failed. What to do stands below."
    if warned:
        return "warn", f"Ready, with {len(warned)} thing{'s' * (len(warned) != 1)} to look at: {_named(warned)}."
    return "ok", "Ready: nothing that was checked is in the way of an engine or of a measurement."


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown


def ago(checked: str, now: datetime) -> str:
    """How long ago an ISO time was."""
    return seconds_ago((now - datetime.fromisoformat(checked)).total_seconds())
