"""Whether this machine can hold the lab at all: asked before anything is downloaded."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
from collections.abc import Mapping
from pathlib import Path

DISK_GB = 6.0
"""The environment takes 3.5 GB; the installers unpack beside it while they work."""


LIBRARIES = {"libnuma.so.1": "libnuma1"}
"""Shared library that vLLM's CPU kernels are linked with -> Debian package that has it."""


class CannotSetUp(Exception):
    """A reason why set-up stops: one sentence, then what to do."""


def check(root: Path, *, system: str = "", machine: str = "", free_gb: float | None = None) -> None:
    """Raise CannotSetUp when the system, a library or the disk does not do. Arguments default to this machine's."""
    system, machine = system or platform.system(), machine or platform.machine()
    if (system, machine) != ("Linux", "x86_64"):
        raise CannotSetUp(
            f"The CPU engine is built for x86-64 Linux; this is {system} on {machine}.\n"
            "Use such a machine or container (linux/amd64), or install labkit alone with `pip install -e .` and attach "
            "it to an engine elsewhere."
        )
    _check_libraries(LIBRARIES)
    _check_disk(root, shutil.disk_usage(root).free / 1e9 if free_gb is None else free_gb)


def _check_libraries(libraries: Mapping[str, str]) -> None:
    for library, package in libraries.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            raise CannotSetUp(
                f"The system library {library} is missing; the engine does not start without it.\n"
                f"Debian, Ubuntu: apt-get install {package}. Then run it again."
            ) from None


def _check_disk(root: Path, free_gb: float) -> None:
    needed = DISK_GB - folder_gb(root / ".venv")
    if free_gb < needed:
        raise CannotSetUp(
            f"Set-up needs {needed:.1f} GB on the disk of {root}; {free_gb:.1f} GB are free.\n"
            "Free some space, or copy the project to another disk, and run it again."
        )


def folder_gb(folder: Path) -> float:
    """Size of all files in `folder`, GB; 0 when it does not exist."""
    return sum(_size(Path(top, name)) for top, _, names in os.walk(folder) for name in names) / 1e9


def _size(file: Path) -> int:
    try:
        return file.lstat().st_size
    except OSError:
        return 0
