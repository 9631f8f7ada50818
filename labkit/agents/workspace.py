"""The files that an agent may touch, and nothing else.

Every path is walked from the workspace's own folder handle, one component at a time, without following links: a link
that a test run plants (or swaps in between check and use) leads nowhere.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from labkit.core.errors import ToolError

MAX_FILE_BYTES = 256 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Workspace:
    """A folder seen through its handle. Close it, or use it as a context manager."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._handle = os.open(root, _FOLDER)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def files(self) -> list[str]:
        """The regular files, sorted; hidden ones, byte code and links are left out."""
        found: list[str] = []
        for folder, folders, names, handle in os.fwalk(".", dir_fd=self._handle, follow_symlinks=False):
            folders[:] = sorted(name for name in folders if _shown(name))
            found += [os.path.normpath(f"{folder}/{name}") for name in names if _shown(name) and _regular(name, handle)]
        return sorted(found)

    def texts(self) -> dict[str, str]:
        """Path to text of every file that can be read as text."""
        found = {}
        for path in self.files():
            with suppress(ToolError):
                found[path] = self.read(path)
        return found

    def read(self, path: str) -> str:
        """The text of a file. Raises ToolError when there is no such file here, or it is not text."""
        with os.fdopen(self._open(path, os.O_RDONLY), "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise ToolError(f"{path} is larger than {MAX_FILE_BYTES // 1024} KiB.")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ToolError(f"{path} is not UTF-8 text.") from error

    def write(self, path: str, text: str) -> None:
        """Replace the text of an existing file. Raises ToolError."""
        with os.fdopen(self._open(path, os.O_WRONLY), "wb") as file:
            file.truncate()
            file.write(text.encode("utf-8"))

    def copy_to(self, target: Path) -> None:
        """Copy the text files to `target`, which a link or a device inside cannot redirect."""
        for path, text in self.texts().items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_text(text, encoding="utf-8")

    def _open(self, path: str, flags: int) -> int:
        *folders, name = _parts(path)
        here = os.dup(self._handle)
        try:
            for folder in folders:
                inner = os.open(folder, _FOLDER, dir_fd=here)
                os.close(here)
                here = inner
            file = os.open(name, flags | _FILE, dir_fd=here)
        except OSError as error:
            raise ToolError(f"There is no file {path!r}. The files are: {', '.join(self.files())}.") from error
        finally:
            os.close(here)
        return _only_plain(file, path)


def copy_in(source: Path, target: Path) -> None:
    """Copy a folder that comes with the project (trusted), without byte code; files in `target` are replaced."""
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))


def _parts(path: str) -> list[str]:
    parts = path.removeprefix("./").split("/")
    if not path or path.startswith("/") or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise ToolError(f"The path {path!r} leaves the workspace. Use a path such as list_files shows.")
    return parts


def _shown(name: str) -> bool:
    return not name.startswith(".") and name != "__pycache__" and not name.endswith(".pyc")


def _regular(name: str, handle: int) -> bool:
    return stat.S_ISREG(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode)


def _only_plain(file: int, path: str) -> int:
    """A device or a pipe is no file; a second hard link may be a file that lives outside."""
    facts = os.fstat(file)
    if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1:
        return file
    os.close(file)
    raise ToolError(f"{path} is not a plain file.")
