"""Which Python has the engine of a profile: this one, or that of the `vllm` program on PATH."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from labkit.engines.environment import engine_environment
from labkit.engines.profiles import Profile

_LONG = re.compile(r"exec'?\s+[\"']?(/[^\"'\s]+)")
"""Where the path of an interpreter is too long for a first line, pip writes a shell's `exec` on the second one."""


def engine_python(profile: Profile) -> str | None:
    """The interpreter to ask about the profile's engine; None: there is no such engine here."""
    if profile.engine.command == "python":
        return sys.executable
    path = engine_environment(os.environ, profile.engine.env).get("PATH")
    program = shutil.which(profile.engine.command, path=path)
    return _interpreter(Path(program), path) if program else None


def _interpreter(program: Path, path: str | None) -> str | None:
    """What runs a script, from its first lines; None for a program that is no Python script."""
    with program.open("rb") as script:
        lines = script.read(1024).decode(errors="replace").splitlines()
    if not lines or not lines[0].startswith("#!"):
        return None
    words = lines[0][2:].split()
    if words and Path(words[0]).name == "env":
        return shutil.which(words[-1], path=path)
    if words and Path(words[0]).name == "sh":
        found = _LONG.search("\n".join(lines[1:3]))
        return found[1] if found else None
    return words[0] if words and "python" in Path(words[0]).name else None
