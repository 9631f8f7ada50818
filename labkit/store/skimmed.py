"""How a run ended whose writer was killed: told from its events without parsing what is long in them.

Whoever polls such a run, on the machine that measures the next one, pays for reading the file and for little else.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from labkit.core.errors import BadInput
from labkit.core.records import RunState
from labkit.store.migrations import EVENT_UPGRADES, upgraded
from labkit.store.tables import Collected

_STEP, _SAMPLES = b'"type": "step"', b'"type": "samples"'
"""How the writer spells what is long in its events; what is spelled otherwise is parsed, and counts the same."""
_HEAD = 60
KILLED = "The process that wrote this run was ended."


def how_it_ended(events: Path, run: str, schema: int) -> tuple[RunState, str]:
    """State and note: as its `finish` says, else `partial` when there is a step that can be read, else `failed`."""
    seen = _skimmed(events, run, schema)
    if seen.finish is not None:
        return seen.finish.get("state", "failed"), seen.finish.get("note", "")
    return ("partial" if seen.count("steps") else "failed"), KILLED


def _skimmed(events: Path, run: str, schema: int) -> Collected:
    """What happened, with one step at most and without telemetry."""
    seen = Collected()
    with contextlib.suppress(FileNotFoundError), events.open("rb") as file:
        for line in file:
            head = line[:_HEAD]
            if not line.endswith(b"\n") or _SAMPLES in head or (_STEP in head and seen.count("steps")):
                continue
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, BadInput):
                seen.feed(run, upgraded(json.loads(line), schema, EVENT_UPGRADES))
    return seen
