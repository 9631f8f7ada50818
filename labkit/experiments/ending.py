"""Ending an engine from a page: a process of its own (`labkit down`), since an engine's grace takes seconds.

<state>/ending/<engine id>.json    the process that ends it
<state>/ending/<engine id>.log     what it printed; an `error: ` in it is why the engine is still there
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from labkit.core.paths import state_dir
from labkit.engines.fleet import Fleet
from labkit.engines.process import ProcessState, is_alive, spawn

_ERROR = "error: "


def end(engine_id: str) -> None:
    """Begin to end this engine, or what is left of it. One that a run holds by then stays, and `failure` says why."""
    log = _log(engine_id)
    _forget_ended(log.parent)
    log.unlink(missing_ok=True)
    argv = [sys.executable, "-m", "labkit", "down", engine_id]
    process = spawn(argv, {**os.environ, "LABKIT_STATE": str(state_dir())}, log, role="ending")
    log.with_suffix(".json").write_text(json.dumps(process.to_dict()), encoding="utf-8")


def end_free() -> list[str]:
    """Begin to end every engine that nobody holds; their ids."""
    fleet = Fleet()
    free = [engine.id for engine in fleet.ps() if not fleet.holder(engine) and not is_ending(engine.id)]
    for engine_id in free:
        end(engine_id)
    return free


def is_ending(engine_id: str) -> bool:
    """Whether an ending that `end` began still goes on."""
    try:
        kept = json.loads(_log(engine_id).with_suffix(".json").read_text(encoding="utf-8"))
        return is_alive(ProcessState.from_dict(kept))
    except (FileNotFoundError, ValueError, TypeError):
        return False


def failure(engine_id: str) -> str:
    """Why an engine could not be ended, in the fleet's words; empty when nothing went wrong."""
    with contextlib.suppress(FileNotFoundError):
        said = _log(engine_id).read_text(encoding="utf-8", errors="replace")
        if _ERROR in said and not is_ending(engine_id):
            return said.split(_ERROR, 1)[1].strip()
    return ""


def _forget_ended(folder: Path) -> None:
    """Drop the files of engines that are gone."""
    there = {engine.id for engine in Fleet().ps()}
    for file in folder.glob("*.*"):
        if file.stem not in there:
            file.unlink(missing_ok=True)


def _log(engine_id: str) -> Path:
    return state_dir() / "ending" / f"{engine_id}.log"
