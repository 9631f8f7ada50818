"""Starting an arm's engine ahead of a run, and ending what is up: what the page's toggles do to the fleet.

A start is a process of its own (`labkit up`), like a run: it outlives a page's reload, and Streamlit stays free.

<state>/warm/<plan key>.json    the process that starts it
<state>/warm/<plan key>.log     what it printed; an `error: ` in it is why there is no engine
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from labkit.core.arms import arm_named
from labkit.core.errors import EngineBusy, UnknownName
from labkit.core.paths import state_dir
from labkit.core.whole import write_whole
from labkit.engines.fleet import Fleet
from labkit.engines.process import ProcessState, is_alive, spawn
from labkit.engines.profiles import load_profile
from labkit.experiments.fleet_provider import FleetProvider

_ERROR = "error: "


def warm(profile: str, arm: str) -> None:
    """Begin to start the engine that a run would use for this arm. Raises UnknownName.

    The fleet says how far it is; `failures` says why it did not come up.
    """
    log = log_of(profile, arm)
    log.unlink(missing_ok=True)
    argv = [sys.executable, "-m", "labkit", "up", "--profile", profile, "--arm", arm, "--salted"]
    process = spawn(argv, {**os.environ, "LABKIT_STATE": str(state_dir())}, log, role="warm")
    write_whole(log.with_suffix(".json"), json.dumps(process.to_dict()))


def is_warming(profile: str, arm: str) -> bool:
    """Whether a start that `warm` began still goes on; it may not be in the fleet yet."""
    return is_starting(_key(profile, arm))


def is_starting(key: str) -> bool:
    """The same, by the key of the plan."""
    try:
        kept = json.loads(log_of_key(key).with_suffix(".json").read_text(encoding="utf-8"))
        return is_alive(ProcessState.from_dict(kept))
    except (FileNotFoundError, ValueError, TypeError):
        return False


def failures(profile: str, arms: Sequence[str]) -> dict[str, str]:
    """Arm to the words of a start that `warm` began and that failed; the next start forgets them."""
    said = {arm: failure(_key(profile, arm)) for arm in arms}
    return {arm: text for arm, text in said.items() if text}


def failure(key: str) -> str:
    """The same for one start, by the key of its plan; empty when it did not fail."""
    text = "" if is_starting(key) else _said(log_of_key(key))
    return text.split(_ERROR, 1)[1].strip() if _ERROR in text else ""


def end_all() -> int:
    """End every engine that no run holds; how many there were."""
    fleet, ended = Fleet(), 0
    for engine in fleet.ps():
        with contextlib.suppress(EngineBusy, UnknownName):  # held, or ended by somebody else meanwhile
            ended += len(fleet.down(engine.id))
    return ended


def _said(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""


def log_of(profile: str, arm: str) -> Path:
    """Where the start that `warm` began for this arm prints."""
    return log_of_key(_key(profile, arm))


def log_of_key(key: str) -> Path:
    """The same, by the key of the plan."""
    return state_dir() / "warm" / f"{key}.log"


def _key(profile: str, arm: str) -> str:
    return FleetProvider(Fleet(), load_profile(profile)).plan(arm_named(arm)).key
