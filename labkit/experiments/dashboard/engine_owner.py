"""Which run an engine has to do with: the one that holds it, or the one that started it and is gone."""

from __future__ import annotations

from labkit.engines.process import ProcessState
from labkit.store.layout import SAME_PROCESS_S
from labkit.store.runs import RunStore


def run_named(holder: str | None) -> str | None:
    """The id of the run that this holder is; None for another kind of holder, or a run of another store."""
    if not holder or "/" in holder:
        return None
    return holder if (RunStore().root / holder).is_dir() else None


def run_started_by(process: ProcessState) -> str | None:
    """Id of the newest run that this process wrote; None where it wrote none of this store."""
    for run in RunStore().runs():
        writer = run.writer
        if writer and writer.pid == process.pid and abs(writer.started - process.created) < SAME_PROCESS_S:
            return run.id
    return None
