"""Run the steps: each has a number, a name and a time; one that fails says what it ran, what came back, what to do."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from venv_setup.pipconfig import clean_environment

Say = Callable[[str], None]


class CommandFailed(Exception):
    """A command ended with a status other than 0. `tail`: the last lines it printed."""

    def __init__(self, argv: Sequence[str], status: int, tail: Sequence[str]) -> None:
        super().__init__(f"status {status}: {shlex.join(argv)}")
        self.argv, self.status, self.tail = tuple(argv), status, tuple(tail)


@dataclass(frozen=True)
class Step:
    """`name`: what the user sees. `run(again)`: do it; `again` when an earlier attempt was cut off half-way."""

    name: str
    run: Callable[[bool], None]
    advice: str


def run(argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str] | None = None) -> str:
    """Run a command and return what it printed. Raises CommandFailed with the last 15 lines."""
    env = {**clean_environment(os.environ), **(environment or {})}
    lines: deque[str] = deque(maxlen=2000)
    with subprocess.Popen(
        argv, cwd=cwd, env=env, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            lines.extend(line.rstrip() for line in process.stdout or ())
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise CommandFailed(argv, process.returncode, list(lines)[-15:])
    return "\n".join(lines)


def run_all(steps: Sequence[Step], marker: Path, say: Say = print) -> bool:
    """Run the steps in order; True when all went through.

    `marker` names the step in progress and outlives a kill: the next set-up then repeats that step from scratch.
    """
    interrupted = marker.read_text(encoding="utf-8") if marker.exists() else ""
    for number, step in enumerate(steps, 1):
        title = f"[{number}/{len(steps)}] {step.name}"
        say(f"{title} ...")
        started = time.monotonic()
        if marker.parent.exists():
            marker.write_text(step.name, encoding="utf-8")
        try:
            step.run(step.name == interrupted)
        except CommandFailed as failure:
            say(_failure(title, step, failure))
            return False
        say(f"{title}: {time.monotonic() - started:.1f} s")
    marker.unlink(missing_ok=True)
    return True


def _failure(title: str, step: Step, failure: CommandFailed) -> str:
    tail = "\n".join(f"  | {line}" for line in failure.tail)
    return f"\n{title} failed (status {failure.status}).\nCommand: {shlex.join(failure.argv)}\n{tail}\n{step.advice}"
