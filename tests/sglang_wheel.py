"""A Python that has SGLang, for tests: the environment's own, with the pinned wheels in a folder of the user's cache.

SGLang's dependencies are for CUDA, so that it is no part of the lock. What its parser, its resolution of arguments and
its metrics import is in the environment already, but for what tests/sglang_site replaces.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "sglang_requirements.txt"


def wheels() -> Path:
    """The folder with SGLang and its router; installed the first time (70 MB, under a minute)."""
    pins = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    tag = f"sglang-{pins}-py{sys.version_info.major}{sys.version_info.minor}"
    folder = user_cache_path("labkit") / "tests" / tag
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            _install(folder)
    return folder


def _install(folder: Path) -> None:
    """All or nothing: a folder that is there is whole."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as room:
        target = Path(room) / "wheels"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        options = ["--no-deps", "--no-compile", "--only-binary", ":all:", "--require-hashes", "--target", str(target)]
        done = subprocess.run([*pip, *options, "-r", str(REQUIREMENTS)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        shutil.move(target, folder)


def python(folder: Path) -> str:
    """A program in `folder` that is this environment's Python with SGLang."""
    program = folder / "python-with-sglang"
    places = shlex.quote(os.pathsep.join([str(HERE / "sglang_site"), str(wheels())]))
    program.write_text(f'#!/bin/sh\nPYTHONPATH={places} exec {shlex.quote(sys.executable)} "$@"\n')
    program.chmod(0o755)
    return str(program)
