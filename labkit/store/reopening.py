"""Going on with a run that ended before it was complete: by a signal, a kill, or an arm that was lost.

The folder stays the one truth: events are appended to what is there. What a kill tore off in mid-line is cut away (it
was in flight, and no reader has ever shown it), and the run's clock goes on as if it had never stopped, the break
included, so that no two rows of a run have the same time.
"""

from __future__ import annotations

import dataclasses
import fcntl
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from labkit.core.clock import Clock
from labkit.core.errors import LabError
from labkit.store.jsonl import cannot_write, read_lines
from labkit.store.layout import EVENTS, Owner, write_run_json
from labkit.store.reader import Run
from labkit.store.writer import RunWriter


def reopened(run: Run, clock: Clock, about: Mapping[str, Any]) -> RunWriter:
    """The writer of a run that has ended. `about`: what its `resume` event says beside the break.

    Raises LabError when its writer still runs, or when the folder cannot be written.
    """
    with _taking_over(run.folder) as events:
        now = Run(run.folder)  # looked at again: somebody else may have resumed it meanwhile
        if now.live:
            raise LabError(f"Run {run.id} still goes on: process {_pid(now)} writes it.", "Wait for it, or end it.")
        was, torn = now.info.state, _cut(events)
        last_t = _last_t(run.folder)
        elapsed = max(last_t, (clock.wall() - datetime.fromisoformat(now.created)).total_seconds())
        info = dataclasses.replace(now.info, state="running", note="")
        write_run_json(run.folder, info, Owner.this_process())
    writer = RunWriter(run.folder, info, clock, clock.now() - elapsed)
    writer.resumed(was=was, break_s=round(elapsed - last_t, 3), torn_bytes=torn, **about)
    return writer


@contextmanager
def _taking_over(folder: Path) -> Iterator[io.BufferedRandom]:
    """The events, open and locked: of two who would resume the run at once, one waits and then sees the other."""
    path = folder / EVENTS
    try:
        with path.open("rb+") as events:
            fcntl.flock(events, fcntl.LOCK_EX)
            yield events
    except OSError as error:
        raise cannot_write(path, error) from error


def _cut(events: io.BufferedRandom) -> int:
    """Cut away what follows the last whole line; how many bytes that were."""
    content = events.read()
    end = content.rfind(b"\n") + 1
    events.truncate(end)
    return len(content) - end


def _last_t(folder: Path) -> float:
    """When the last event was, in seconds since the run's start."""
    times = (line.data.get("t") for line in read_lines(folder / EVENTS) if line.data)
    return max((float(t) for t in times if isinstance(t, int | float)), default=0.0)


def _pid(run: Run) -> str:
    return str(run.writer.pid) if run.writer else "unknown"
