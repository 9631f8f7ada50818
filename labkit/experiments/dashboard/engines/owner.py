"""Which run an engine has to do with: the one that holds it, or the one that started it and is gone."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from labkit.engines.process import ProcessState
from labkit.store.layout import SAME_PROCESS_S
from labkit.store.listing import Listing
from labkit.store.runs import RunStore


def run_named(holder: str | None) -> str | None:
    """The id of the run that this holder is; None for another kind of holder, or a run of another store."""
    if not holder or "/" in holder:
        return None
    return holder if (RunStore().root / holder).is_dir() else None


def run_started_by(process: ProcessState) -> str | None:
    """Id of the newest run that this process wrote; None where it wrote none of this store."""
    for seen in _listing(RunStore().root).newest():
        writer = seen.writer
        if writer and writer.pid == process.pid and abs(writer.started - process.created) < SAME_PROCESS_S:
            return seen.info.id
    return None


@lru_cache(maxsize=2)
def _listing(root: Path) -> Listing:
    """Remembered, since it is asked for every left engine at each look: a folder is read when it has changed."""
    return Listing(RunStore(root))
