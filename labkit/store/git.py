"""Which commit the code is at, and whether tracked files were changed, read from `.git` itself.

The store starts no process, so this reads what git keeps: HEAD, refs, and the index. A tracked file counts as changed
when its size or modification time is not what the index noted, or when it is gone: git's own quick check. git then
compares contents; here a file that was only touched counts as changed too, so `dirty` errs to the side of caution.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_ENTRY = struct.Struct(">10I20sH")
_EXTENDED = 0x4000
_SUBMODULE = 0o160000


class Entry(NamedTuple):
    """A tracked file as the index noted it. `mtime_ns`: modification time in ns; `size`: bytes modulo 2**32."""

    path: str
    mode: int
    mtime_ns: int
    size: int


def git_state(root: Path) -> dict[str, Any] | None:
    """`{"commit": ..., "dirty": ...}` of the work tree at `root`; None when it is not one.

    `dirty` is None when the index cannot be read (a format newer than version 3).
    """
    git = _git_dir(root)
    if git is None:
        return None
    return {"commit": _commit(git), "dirty": _dirty(root, git)}


def _git_dir(root: Path) -> Path | None:
    """`.git`, or where a worktree's `.git` file points."""
    git = root / ".git"
    if git.is_file():
        return (root / git.read_text().removeprefix("gitdir:").strip()).resolve()
    return git if git.is_dir() else None


def _commit(git: Path) -> str | None:
    head = (git / "HEAD").read_text().strip()
    if not head.startswith("ref:"):
        return head
    name = head.removeprefix("ref:").strip()
    common = git / (git / "commondir").read_text().strip() if (git / "commondir").exists() else git
    loose = [folder / name for folder in (git, common) if (folder / name).is_file()]
    return loose[0].read_text().strip() if loose else _packed(common / "packed-refs", name)


def _packed(refs: Path, name: str) -> str | None:
    lines = refs.read_text().splitlines() if refs.is_file() else []
    return next((line.split()[0] for line in lines if line.endswith(f" {name}")), None)


def _dirty(root: Path, git: Path) -> bool | None:
    try:
        return any(_changed(root, entry) for entry in read_index((git / "index").read_bytes()))
    except (OSError, ValueError, struct.error):
        return None


def _changed(root: Path, entry: Entry) -> bool:
    if entry.mode == _SUBMODULE:
        return False
    try:
        now = (root / entry.path).lstat()
    except OSError:
        return True
    return now.st_size % 2**32 != entry.size or now.st_mtime_ns != entry.mtime_ns


def read_index(data: bytes) -> Iterator[Entry]:
    """The entries of a git index of version 2 or 3 (gitformat-index). Raises ValueError for another version."""
    signature, version, entries = struct.unpack_from(">4sII", data)
    if signature != b"DIRC" or version not in (2, 3):
        raise ValueError(f"not a git index of version 2 or 3: {signature!r} {version}")
    at = 12
    for _ in range(entries):
        _, _, seconds, nanos, _, _, mode, _, _, size, _, flags = _ENTRY.unpack_from(data, at)
        start = at + _ENTRY.size + (2 if flags & _EXTENDED else 0)
        end = data.index(b"\0", start)
        yield Entry(data[start:end].decode(errors="surrogateescape"), mode, seconds * 10**9 + nanos, size)
        at += (end - at + 8) // 8 * 8
