"""Which calls make sense now: what a grammar lets a small model choose from.

A 135M model left alone lists the files thirty times. So a call that would tell or change nothing is not offered. This
narrows the choice, never the prompt: a grammar is no part of it, so each request still extends the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labkit.agents.specs import TOOLS, ToolSpec

TESTS = "tests"
"""The folder of the tests that the agent sees; read-only."""


@dataclass(frozen=True)
class Call:
    """A call that was made. `path`: the file it was about, if any."""

    name: str
    path: str | None
    ok: bool


@dataclass(frozen=True)
class Offer:
    """A tool that may be called. `paths`: the files it may be called with, None for any."""

    spec: ToolSpec
    paths: tuple[str, ...] | None = None


EVERYTHING = tuple(Offer(spec) for spec in TOOLS)


def offers(calls: Sequence[Call], files: Sequence[str]) -> tuple[Offer, ...]:
    """The tools worth calling after `calls`, with the files worth calling them with; never empty."""
    paths = {"read_file": _unread(calls, files), "edit_file": _editable(calls, files)}
    made = tuple(Offer(spec, paths.get(spec.name)) for spec in TOOLS if _worth(spec.name, calls))
    return tuple(offer for offer in made if offer.paths != ()) or EVERYTHING


def _worth(name: str, calls: Sequence[Call]) -> bool:
    """The list once, tests once per change, the end after a change was tried and tested; not what keeps failing."""
    if _failing(name, calls):
        return False
    made = {call.name for call in calls}
    tested = any(call.name == "run_tests" for call in _since_edit(calls))
    if name == "list_files":
        return name not in made
    if name == "run_tests":
        return not tested
    return name != "finish" or (tested and "edit_file" in made)


def _failing(name: str, calls: Sequence[Call]) -> bool:
    """It failed just now, or the last two times."""
    just_now = bool(calls) and calls[-1].name == name and not calls[-1].ok
    last_two = [call.ok for call in calls if call.name == name][-2:]
    return just_now or last_two == [False, False]


def _since_edit(calls: Sequence[Call]) -> Sequence[Call]:
    edits = [n for n, call in enumerate(calls) if call.name == "edit_file" and call.ok]
    return calls[edits[-1] + 1 :] if edits else calls


def _unread(calls: Sequence[Call], files: Sequence[str]) -> tuple[str, ...]:
    """Files not seen as they are now."""
    last = {call.path: call.name for call in calls if call.ok and call.name in ("read_file", "edit_file")}
    return tuple(path for path in files if last.get(path) != "read_file")


def _editable(calls: Sequence[Call], files: Sequence[str]) -> tuple[str, ...]:
    """Files that were read: what was not seen cannot be copied exactly."""
    read = {call.path for call in calls if call.ok and call.name == "read_file"}
    return tuple(path for path in files if path in read and not path.startswith(f"{TESTS}/"))
