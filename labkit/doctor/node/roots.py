"""Where a machine's own files are: the real ones, or a tree that looks like another machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Roots:
    """Folders of the system, each of which a test may plant."""

    sys: Path = Path("/sys")
    proc: Path = Path("/proc")
    dev: Path = Path("/dev")
    rocm: Path = Path("/opt/rocm")


def text(path: Path) -> str | None:
    """What a small file says, without the white space around it; None where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def number(path: Path, base: int = 10) -> int | None:
    """A file's whole number; None where there is none."""
    try:
        return int(text(path) or "", base)
    except ValueError:
        return None
