"""What the closing remarks of a run say of engines that were attached: which columns are null throughout, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def attached_remarks(events: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence each, without a full stop, from the events `attached`; what is said of several arms is said once."""
    said: dict[str, list[str]] = {}
    for event in events:
        for words in _of(event) if event.get("type") == "attached" else ():
            said.setdefault(words, []).append(str(event["arm"]))
    return [f"{', '.join(dict.fromkeys(arms))}: {words}" for words, arms in said.items()]


def _of(event: Mapping[str, Any]) -> Iterator[str]:
    columns: dict[str, list[str]] = {}
    for column, why in (event.get("unread") or {}).items():
        columns.setdefault(why, []).append(column)
    yield from (f"{', '.join(names)} null throughout, as {why}" for why, names in columns.items())
    yield from event.get("noted") or ()
