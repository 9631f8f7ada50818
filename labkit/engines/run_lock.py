"""One run at a time per engine: a lock that says who holds it, and whose holder can be looked up without touching it.

`lock` is the lock itself, released by the kernel when its holder dies; `lock.owner` names the holder and its process,
so that a page can ask who holds an engine without ever being in the way of a run that wants it.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from labkit.core.errors import EngineBusy
from labkit.engines.process import ProcessState, is_alive


@contextlib.contextmanager
def held(folder: Path, engine_id: str, owner: str) -> Iterator[None]:
    """Hold the engine whose folder this is. Raises EngineBusy, naming the holder, when somebody else does."""
    folder.mkdir(parents=True, exist_ok=True)
    lock, name = FileLock(folder / "lock"), folder / "lock.owner"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise EngineBusy(
            f"engine {engine_id} is held by {holder(folder) or 'another run'}",
            "Wait for it, or stop that run.",
        ) from None
    try:
        name.write_text(_signed(owner), encoding="utf-8")
        yield
    finally:
        name.unlink(missing_ok=True)
        lock.release()


def holder(folder: Path) -> str | None:
    """Who holds the engine; None when nobody does, or when the one who did was killed."""
    try:
        said = json.loads((folder / "lock.owner").read_text(encoding="utf-8"))
        return str(said["owner"]) if is_alive(ProcessState.from_dict(said["process"])) else None
    except (FileNotFoundError, ValueError, KeyError):
        return None


def _signed(owner: str) -> str:
    process = ProcessState(role="holder", pid=os.getpid(), created=psutil.Process().create_time())
    return json.dumps({"owner": owner, "process": process.to_dict()})
