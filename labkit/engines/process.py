"""Processes that outlive their starter, and die as groups.

An engine is a tree of processes. Each is started as the leader of its own session, so that the whole tree can be found
and ended even when its leader was killed. A process is recognised by pid *and* start time: a reused pid is not ours.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from labkit.core.errors import EngineError
from labkit.core.records import Record

_POLL_S = 0.02
_SAME_START_S = 0.05
_ORPHAN_GRACE_S = 1.0
"""What a dead leader left behind gets this long to end by itself."""
_children: dict[int, subprocess.Popen[bytes]] = {}
"""Processes that this interpreter started; kept so that the dead ones are reaped and are not taken for alive."""


@dataclass(frozen=True, kw_only=True)
class ProcessState(Record):
    """A process that was started. `created`: its start, seconds since the epoch. `url` is empty without a port."""

    role: str
    pid: int
    created: float
    port: int = 0
    url: str = ""
    log: str = ""
    metrics: bool = False


def spawn(
    argv: Sequence[str],
    env: Mapping[str, str],
    log: Path,
    cwd: Path | None = None,
    *,
    role: str = "process",
    port: int = 0,
    metrics: bool = False,
) -> ProcessState:
    """Start `argv` in a session of its own, with `env` as its whole environment and both streams appended to `log`.

    It keeps running when this interpreter ends. Raises EngineError when the program cannot be started at all.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with log.open("ab") as out:
            child = subprocess.Popen(
                list(argv),
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError as error:
        raise EngineError(f"{argv[0]} cannot be started: {error.strerror}", "Is it installed and on PATH?") from error
    _children[child.pid] = child
    url = f"http://127.0.0.1:{port}" if port else ""
    return ProcessState(
        role=role, pid=child.pid, created=_created(child.pid), port=port, url=url, log=str(log), metrics=metrics
    )


def is_alive(state: ProcessState) -> bool:
    """Whether that very process still runs (a zombie does not)."""
    return _running(state.pid, state.created)


def exit_code(state: ProcessState) -> int | None:
    """The exit status when this interpreter started the process and it has ended, else None."""
    child = _children.get(state.pid)
    return child.poll() if child is not None else None


def group(state: ProcessState) -> list[psutil.Process]:
    """The living processes of the session that `state` led, whether or not the leader still lives."""
    if psutil.pid_exists(state.pid) and not is_alive(state) and not _is_zombie(state.pid):
        return []  # the pid has another owner now, and so has the session number
    return [process for process in psutil.process_iter() if _in_session(process, state.pid)]


def end_group(state: ProcessState, grace_s: float = 8.0) -> bool:
    """End the whole group: TERM, wait `grace_s`, KILL. True when something had to be ended."""
    return end_groups([state], grace_s)


def end_groups(states: Iterable[ProcessState], grace_s: float = 8.0) -> bool:
    """End several groups at once, so that the grace is waited for only once."""
    states = list(states)
    members = [process for state in states for process in group(state)]
    leaders = [process for process in members if process.pid in {state.pid for state in states}]
    for state in states:
        _signal_leader(state)
    _wait(leaders, grace_s)
    _wait(members, _ORPHAN_GRACE_S)
    for process in [process for state in states for process in group(state)]:
        _kill(process)
    _wait(members, _ORPHAN_GRACE_S)
    for state in states:
        _reap(state.pid)
    return bool(members)


def _signal_leader(state: ProcessState) -> None:
    """Ask the leader alone: a server that ends its own workers does so without stack traces in the log."""
    if is_alive(state):
        os.kill(state.pid, signal.SIGTERM)


def _wait(processes: Sequence[psutil.Process], seconds: float) -> None:
    """Until none runs, `seconds` at most. A zombie that its new parent has yet to reap does not run."""
    deadline = time.monotonic() + seconds
    while any(map(_is_running, processes)) and time.monotonic() < deadline:
        time.sleep(_POLL_S)


def _kill(process: psutil.Process) -> None:
    try:
        process.kill()
    except psutil.NoSuchProcess:
        return


def _reap(pid: int) -> None:
    child = _children.get(pid)
    if child is not None and child.poll() is not None:
        del _children[pid]


def _created(pid: int) -> float:
    return float(psutil.Process(pid).create_time())


def _running(pid: int, created: float) -> bool:
    if pid in _children and _children[pid].poll() is not None:
        return False
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - created) < _SAME_START_S
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _is_zombie(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def _is_running(process: psutil.Process) -> bool:
    return process.is_running() and not _is_zombie(process.pid)


def _in_session(process: psutil.Process, session: int) -> bool:
    try:
        return os.getsid(process.pid) == session and _is_running(process)
    except (ProcessLookupError, PermissionError, psutil.NoSuchProcess):
        return False
