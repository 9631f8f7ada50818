"""Run an experiment and wait for it, from a notebook: interrupting a cell stops the run and keeps what it measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from labkit.core.errors import LabError
from labkit.core.progress import Progress, time_left
from labkit.experiments import jobs
from labkit.experiments.jobs import JobStatus
from labkit.experiments.view import last_progress
from labkit.store.runs import Run

__all__ = ["Say", "in_words", "run_and_wait", "time_left"]

_POLL_S = 0.5
_ACTIVE = ("starting", "running")
Say = Callable[[str], None]


def run_and_wait(experiment: str, params: Mapping[str, Any], say: Say = print) -> Run:
    """The run that the experiment became, however it ended; `say` hears each new line of progress.

    It runs in a process of its own, so it works within an event loop. Interrupting stops it as Ctrl-C does. Raises
    BadInput and UnknownName for a wrong question, LabError when the process ended before there was a run.
    """
    job, said = jobs.start(experiment, params), ""
    try:
        while (now := jobs.status(job.id)).state in _ACTIVE:
            said = _report(now, said, say)
            time.sleep(_POLL_S)
    except KeyboardInterrupt:
        now = jobs.cancel(job.id)
    if now.run is None:
        raise LabError(f"{job.id} ended before there was a run.", "\n".join(now.log_tail))
    for line in (f"{now.state}.", *now.run.info.note.splitlines()):
        say(line)
    return now.run


def _report(now: JobStatus, said: str, say: Say) -> str:
    """Say what is new; returns what was said last."""
    progress = last_progress(now.run.events()) if now.run else None
    line = in_words(progress) if progress else said
    if line != said:
        say(line)
    return line


def in_words(progress: Progress) -> str:
    """`3/8 measuring base: turn 3: TTFT 0.61 s, about 20 s left`."""
    done = f"{progress.done:.0f}/{progress.total:.0f} " if progress.done is not None and progress.total else ""
    return ", ".join(filter(None, (f"{done}{progress.said}", time_left(progress.eta_s or None))))
