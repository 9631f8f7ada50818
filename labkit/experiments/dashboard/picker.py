"""The list of runs that a page chooses from, in words that a person understands, and the run that it begins with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labkit.core.errors import LabError
from labkit.core.records import RunInfo
from labkit.experiments.words import recordings_in_words
from labkit.store.listing import Listing, Seen

LIMIT = 200
"""So many of the newest runs are listed: what a person scrolls through, and a message to the browser that is small."""
BETWEEN = " · "
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_STATES = {"running": "", "done": "", "partial": "incomplete", "failed": "failed", "cancelled": "stopped"}


@dataclass(frozen=True, kw_only=True)
class Choices:
    """`labels`: name to label, newest first, examples last. `picked`: the one to show; None while there is none.

    `problem`: why the wanted one is not shown, and what to do; empty when it is. `example`: what to say of a picked
    example. `going`: the picked one goes on. `older`: runs that are not listed. `broken`: folders that do not open.
    """

    labels: dict[str, str]
    picked: str | None = None
    problem: str = ""
    example: str = ""
    going: bool = False
    examples: tuple[str, ...] = ()
    older: int = 0
    broken: int = 0

    @property
    def help(self) -> str:
        """What is in the list, and what is not."""
        said = ["Newest first; type to search."]
        if self.older:
            said.append(f"{self.older} older ones open by their id in the address: `?run_id=...` (`labkit runs`).")
        if self.broken:
            said.append(f"{self.broken} {'folder does' if self.broken == 1 else 'folders do'} not open: `labkit runs`.")
        return " ".join(said)


def choices(listing: Listing, wanted: str | None = None, states: bool = False, limit: int = LIMIT) -> Choices:
    """What to choose from, and `wanted` (a name, a short end of an id) picked when it opens, else the newest.

    `states`: say of a run in the list how it ended. A list keeps the words that it was drawn with, so that a run goes
    on is no part of them: `going` says it of the one that is picked.
    """
    try:
        own = listing.newest()
    except LabError as error:
        return Choices(labels={}, problem=_in_words(error))
    examples, shown = listing.examples(), own[:limit]
    found, problem = _wanted(listing, wanted, bool(own))
    picked = found or next(iter(own), None)
    if found and found not in shown and not found.example:
        shown = [*shown, found]
    return Choices(
        labels={seen.name: label(seen, states) for seen in [*shown, *examples]},
        picked=picked.name if picked else None,
        problem=problem,
        example=_measured_elsewhere(picked.info) if picked and picked.example else "",
        going=bool(picked and picked.info.state == "running"),
        examples=tuple(seen.name for seen in examples),
        older=len(own) - len(shown),
        broken=len(listing.broken()),
    )


def _wanted(listing: Listing, wanted: str | None, any_own: bool) -> tuple[Seen | None, str]:
    if not wanted:
        return None, ""
    try:
        return listing.one(wanted), ""
    except LabError as error:
        return None, " ".join(filter(None, [_in_words(error), "Shown instead: the newest run." if any_own else ""]))


def _in_words(error: LabError) -> str:
    return f"{error.message}. {error.hint}".rstrip() if error.hint else f"{error.message}."


def label(seen: Seen, states: bool = False) -> str:
    """`quick: ranks-that-jump-live · six arms · 2026-11-30 15:25 UTC · 6cb346`; its last part opens it, too.

    Without its state a label never changes: a list keeps the words that it was drawn with.
    """
    info = seen.info
    parts = [
        ("example: " if seen.example else "") + _what(info),
        _arms(info.asked.get("arms") or ()),
        f"{info.created[:16].replace('T', ' ')} UTC",
        _STATES[info.state] if states else "",
        seen.name if seen.copy else info.id.rsplit("-", 1)[-1],
    ]
    return BETWEEN.join(part for part in parts if part)


def _what(info: RunInfo) -> str:
    about = _about(info.asked)
    return f"{info.experiment}: {about}" if about else info.experiment


def _about(asked: Mapping[str, Any]) -> str:
    """The recording or task; of several, how many."""
    recordings = asked.get("recordings") or ()
    if isinstance(recordings, Sequence) and not isinstance(recordings, str) and len(recordings) > 1:
        return f"{_number(len(recordings))} recordings"
    return recordings_in_words(asked) or str(asked.get("task") or "")


def _arms(arms: Sequence[str]) -> str:
    return f"{_number(len(arms))} arms" if len(arms) > 2 else " and ".join(arms)


def _number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)


def _measured_elsewhere(info: RunInfo) -> str:
    cpu = info.fingerprint.get("cpu") or {}
    machine = f" on {cpu['cores']} cores of an {cpu['model']}" if cpu.get("model") and cpu.get("cores") else ""
    return f"An example that comes with the project, measured{machine} on {info.created[:10]}: not on this machine."
