"""The files of a deployment, and writing them without losing what somebody changed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from labkit.core.errors import LabError


@dataclass(frozen=True)
class DeployFile:
    """A file's name, without a folder, and its whole text."""

    name: str
    text: str


def write_files(folder: Path, files: Sequence[DeployFile], *, force: bool) -> tuple[Path, ...]:
    """Write `files` into `folder`, which is made where it is missing. Returns their paths.

    Raises LabError when one of them is there already and `force` is not set: then none is written; and when the folder
    or a file cannot be written, with the path and the system's reason.
    """
    paths = tuple(folder / file.name for file in files)
    try:
        _require_absent(() if force else paths)
        folder.mkdir(parents=True, exist_ok=True)
        for path, file in zip(paths, files, strict=True):
            path.write_text(file.text, encoding="utf-8")
    except OSError as error:
        place, why = error.filename or folder, error.strerror or error
        raise LabError(f"{place}: cannot be written: {why}", "Give --out another folder.") from error
    return paths


def _require_absent(paths: Sequence[Path]) -> None:
    there = [str(path) for path in paths if path.exists()]
    if there:
        raise LabError(f"{', '.join(there)}: there already, and nothing was written", "Replace it with --force.")
