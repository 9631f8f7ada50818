"""Runs a task's tests out of harm's way: own process group, limits, no network, no files but its own, no secrets.

What is written by a model is run here. `sandbox_child` closes what this kernel lets it close and says so in
`Finished.isolation`; time, output and memory are limited everywhere.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_CHILD = Path(__file__).with_name("sandbox_child.py")
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/dev/null", "/dev/zero", "/dev/urandom")
DOORS = ("net", "pids", "files")
"""What may be closed: the network, other processes, files outside the workspace."""


@dataclass(frozen=True, kw_only=True)
class SandboxLimits:
    """Seconds of wall and CPU time, bytes of address space, of a file and of kept output, number of processes."""

    wall_s: float = 20.0
    cpu_s: int = 10
    memory_bytes: int = 1 << 30
    file_bytes: int = 1 << 20
    output_bytes: int = 64 * 1024
    processes: int = 64


@dataclass(frozen=True, kw_only=True)
class Finished:
    """How a run ended. `code`: None when it was stopped at the time limit. `isolation`: the doors that were closed."""

    code: int | None
    output: str
    isolation: tuple[str, ...]


def run_unittest(workspace: Path, folder: str, limits: SandboxLimits | None = None) -> Finished:
    """Run the unittest tests under `workspace/folder` with the workspace as the top folder."""
    return run_python(workspace, ["-m", "unittest", "discover", "-s", folder, "-t", "."], limits)


def run_python(workspace: Path, args: list[str], limits: SandboxLimits | None = None, said: str = "") -> Finished:
    """Run the project's own Python with `args` inside the workspace, contained. Never raises for what the code does.

    `said`: what it reads on standard input, less than a pipe holds (64 KiB).
    """
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as output, _spoken(said) as stdin:
        return _run(workspace.resolve(), Path(scratch).resolve(), args, limits or SandboxLimits(), output, stdin)


def _spoken(text: str) -> IO[bytes]:
    """A pipe that holds the text and ends after it; what was read from it cannot be read again."""
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as file:
        file.write(text.encode())
    return os.fdopen(reader, "rb")


def _run(
    workspace: Path, scratch: Path, args: list[str], limits: SandboxLimits, output: IO[bytes], stdin: IO[bytes]
) -> Finished:
    reader, writer = os.pipe()
    config = _config(workspace, scratch, args, limits, writer)
    child = subprocess.Popen(
        [sys.executable, "-I", str(_CHILD), json.dumps(config)],
        stdin=stdin, stdout=output, stderr=subprocess.STDOUT,
        start_new_session=True, pass_fds=(writer,), env=_environment(scratch), cwd=scratch,
    )  # fmt: skip
    os.close(writer)
    try:
        code = _wait(child, limits.wall_s)
    finally:
        _end_group(child)
        with os.fdopen(reader, "rb") as report:
            closed = json.loads(report.read() or b"[]")
    text = _kept(output, limits.output_bytes)
    return Finished(code=code, output=tidy(text, workspace), isolation=tuple(closed))


def _config(workspace: Path, scratch: Path, args: list[str], limits: SandboxLimits, report: int) -> dict[str, object]:
    return {
        "workspace": str(workspace),
        "argv": [sys.executable, "-B", "-u", *args],
        "env": _environment(scratch),
        "readable": [*_SYSTEM, sys.prefix, sys.base_prefix],
        "writable": [str(workspace), str(scratch), "/dev/null"],
        "report": report,
        "cpu_s": limits.cpu_s,
        "memory_bytes": limits.memory_bytes,
        "file_bytes": limits.file_bytes,
        "processes": limits.processes,
    }


def _environment(scratch: Path) -> dict[str, str]:
    """A fixed environment: nothing of ours passes through, and nothing in it changes the output from run to run."""
    return {
        "PATH": "/usr/bin:/bin", "HOME": str(scratch), "TMPDIR": str(scratch), "LANG": "C.UTF-8", "COLUMNS": "80",
        "TZ": "UTC", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNODEBUGRANGES": "1",
    }  # fmt: skip


def _wait(child: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


def _end_group(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _kept(output: IO[bytes], limit: int) -> str:
    """The end of the output: that is where a test run says what went wrong."""
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - limit))
    text = output.read(limit).decode("utf-8", errors="replace")
    return f"[first {size - limit} bytes left out]\n{text}" if size > limit else text


def tidy(text: str, workspace: Path) -> str:
    """Take out what differs from run to run: the workspace's own path, durations, addresses in memory."""
    text = text.replace(f"{workspace}/", "").replace(str(workspace), ".")
    text = text.replace(str(Path(sys.base_prefix)), "<python>")
    text = re.sub(r"\b(Ran \d+ tests?) in [\d.]+s", r"\1", text)
    return re.sub(r"\b0x[0-9a-f]{6,16}\b", "0x...", text)
