"""The virtual environment itself: make it, notice a broken one, clear away what an interrupted install left."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from venv_setup.runner import run


def usable(venv: Path) -> bool:
    """Whether the environment's Python starts, is a supported one and has pip."""
    code = "import sys, pip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))"
    try:
        return subprocess.run([venv / "bin/python", "-c", code], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def make(venv: Path, again: bool) -> None:
    """Make `venv` with the Python that runs this, unless a usable one is there. `again`: it was cut off, start over."""
    if venv.exists() and (again or not usable(venv)):
        shutil.rmtree(venv)
    if not venv.exists():
        run([sys.executable, "-m", "venv", str(venv)], cwd=venv.parent)


def site_packages(venv: Path) -> Path:
    """The folder that packages are installed in."""
    return next(venv.glob("lib/python3.*/site-packages"))


def clear_half_installed(venv: Path) -> list[str]:
    """Remove the metadata of packages whose install was cut off, so that no installer takes them for installed.

    pip and uv both write INSTALLER after a package's files: metadata without it belong to half a package.
    """
    half = [folder for folder in site_packages(venv).glob("*.dist-info") if not (folder / "INSTALLER").exists()]
    for folder in half:
        shutil.rmtree(folder)
    return [folder.name for folder in half]


def at_every_start(venv: Path, module: Path) -> None:
    """Copy `module` into the environment, and have each of its interpreters import it when it starts."""
    packages, name = site_packages(venv), f"labkit_{module.stem}"
    shutil.copyfile(module, packages / f"{name}.py")
    (packages / "labkit-start.pth").write_text(f"import {name}\n", encoding="utf-8")
