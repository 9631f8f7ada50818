"""A run as a process of its own: it survives a page's reload, and does not share an interpreter with Streamlit.

    job = start("quick", {"arms": ("base", "prefix"), "steps": 3})
    status(job.id).state        # starting, running, done, partial, failed, cancelled
    cancel(job.id)

<state>/jobs/<id>/job.json    what was started, with pid and start time
<state>/jobs/<id>/run         the run's folder, written by the job as soon as there is one
<state>/jobs/<id>/job.log     what the process printed
<state>/jobs/<id>/stopped     it was asked to stop before there was a run

The progress of a job is in its run folder, for whoever looks (`Run.events`); the job itself only says whether it lives.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import psutil

from labkit.core.errors import RunUnreadable
from labkit.core.names import unknown
from labkit.core.paths import runs_dir, state_dir
from labkit.core.records import Record
from labkit.core.whole import write_whole
from labkit.engines.logs import tail
from labkit.engines.process import ProcessState, end_group, is_alive, spawn
from labkit.experiments.catalogue import experiment
from labkit.experiments.words import command_of
from labkit.store.runs import Run

State = Literal["starting", "running", "done", "partial", "failed", "cancelled"]
_RUN, _JOB, _LOG, _STOPPED = "run", "job.json", "job.log", "stopped"
_POLL_S = 0.1


@dataclass(frozen=True, kw_only=True)
class Job(Record):
    """A process that runs an experiment. `created`: ISO time; `params`: what was asked (fields of Asked)."""

    id: str
    experiment: str
    params: dict[str, Any]
    created: str
    process: ProcessState

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return super().from_dict({**data, "process": ProcessState.from_dict(data["process"])})


@dataclass(frozen=True, kw_only=True)
class JobStatus:
    """`run`: the run, once there is one. `log_tail`: what the process printed last, for a job that failed early."""

    job: Job
    state: State
    run: Run | None = None
    log_tail: list[str] = field(default_factory=list)


def start(experiment_name: str, params: Mapping[str, Any], words: Sequence[str] = ()) -> Job:
    """Start an experiment in the background. `words`: further words of the command line, taken as they are.

    Raises UnknownName, BadInput for a parameter that it does not take.
    """
    known = experiment(experiment_name)
    job_id = _new_id(experiment_name)
    argv = [sys.executable, "-m", "labkit", *command_of(known, params), "--job", job_id, *words]
    env = {**os.environ, "LABKIT_RUNS": str(runs_dir()), "LABKIT_STATE": str(state_dir())}
    process = spawn(argv, env, folder_of(job_id) / _LOG, role="job")
    return _kept(job_id, experiment_name, params, process)


def enlist(experiment_name: str, params: Mapping[str, Any]) -> Job:
    """Called by a process that runs an experiment without having been started as a job: from now on it is one.

    So that a run in a terminal can be followed, steered and stopped from elsewhere. It logs to its terminal.
    """
    job_id = _new_id(experiment_name)
    log = str(folder_of(job_id) / _LOG)
    process = ProcessState(role="job", pid=os.getpid(), created=psutil.Process().create_time(), log=log)
    return _kept(job_id, experiment_name, params, process)


def claim(job_id: str, run_folder: Path) -> None:
    """Called by the job's own process: this is the run's folder."""
    write_whole(folder_of(job_id) / _RUN, str(run_folder))


def jobs() -> list[Job]:
    """Every job that was started, newest first."""
    return [_read(path, path.stat().st_mtime_ns) for path in sorted(_files(), reverse=True)]


def newest() -> Job | None:
    """The job that was started last; no other one's file is read."""
    path = max(_files(), default=None)
    return _read(path, path.stat().st_mtime_ns) if path else None


def status(job_id: str) -> JobStatus:
    """What became of a job. Raises UnknownName."""
    job, run = _job(job_id), _run(job_id)
    alive = is_alive(job.process)
    log = tail(Path(job.process.log), 20)
    if run is None:
        return JobStatus(job=job, state="starting" if alive else _ended_early(job_id), log_tail=log)
    return JobStatus(job=job, state=run.info.state, run=run, log_tail=log)


def cancel(job_id: str, grace_s: float = 60.0) -> JobStatus:
    """Ask the job to stop, as Ctrl-C does, and wait; after `grace_s` end its process group. Raises UnknownName.

    The grace is for ending engines. `grace_s=0` only asks. An ended job stays as it is.
    """
    job = _job(job_id)
    if is_alive(job.process):
        if _run(job_id) is None:
            write_whole(folder_of(job_id) / _STOPPED, "")
        _interrupt(job.process)
        deadline = time.monotonic() + grace_s
        while is_alive(job.process) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        if grace_s and is_alive(job.process):
            end_group(job.process)
    return status(job_id)


def _new_id(experiment_name: str) -> str:
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{experiment_name}-{secrets.token_hex(3)}"


def _kept(job_id: str, experiment_name: str, params: Mapping[str, Any], process: ProcessState) -> Job:
    job = Job(
        id=job_id,
        experiment=experiment_name,
        params=dict(params),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        process=process,
    )
    write_whole(folder_of(job_id) / _JOB, json.dumps(job.to_dict(), indent=1))
    return job


def _interrupt(process: ProcessState) -> None:
    """As Ctrl-C does: its whole group, when it leads one; a process that a script started is one of a group."""
    with contextlib.suppress(ProcessLookupError):  # it has ended by itself meanwhile
        leads = os.getpgid(process.pid) == process.pid
        (os.killpg if leads else os.kill)(process.pid, signal.SIGINT)


def folder_of(job_id: str) -> Path:
    """Where the job keeps its files; there is nothing in it before the job was started."""
    return state_dir() / "jobs" / job_id


def _job(job_id: str) -> Job:
    path = folder_of(job_id) / _JOB
    if not path.is_file():
        raise unknown("job", job_id, [job.id for job in jobs()], "labkit runs")
    return _read(path, path.stat().st_mtime_ns)


def _files() -> Iterator[Path]:
    return (state_dir() / "jobs").glob(f"*/{_JOB}")


def _run(job_id: str) -> Run | None:
    path = folder_of(job_id) / _RUN
    try:
        return Run(Path(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, RunUnreadable):
        return None


def _ended_early(job_id: str) -> State:
    """Of a job that never had a run: it was told to stop, or it could not begin."""
    return "cancelled" if (folder_of(job_id) / _STOPPED).exists() else "failed"


@lru_cache(maxsize=1000)
def _read(path: Path, _mtime_ns: int) -> Job:
    """A job, remembered: pages ask every second, and its file is written once."""
    return Job.from_dict(json.loads(path.read_text(encoding="utf-8")))
