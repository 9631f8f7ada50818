"""The list of a model folder's files with size and sha256: how a half or damaged folder is told from a whole one."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

NAME = "manifest.json"
SCHEMA = 1


def write(folder: Path, recipe: str) -> None:
    """Write the manifest over every file in `folder`. `recipe`: see ModelSpec.recipe."""
    entries = {file.name: _entry(file) for file in sorted(folder.iterdir()) if file.name != NAME}
    document = {"schema": SCHEMA, "recipe": recipe, "files": entries}
    (folder / NAME).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def problem(folder: Path, recipe: str, *, checksums: bool) -> str:
    """What is wrong with the folder, in a few words; empty when it is whole.

    Sizes are always compared; `checksums` reads every byte too (about a second for 270 MB).
    """
    try:
        document = json.loads((folder / NAME).read_text(encoding="utf-8"))
        entries: dict[str, dict[str, Any]] = document["files"]
        found = document["schema"], document["recipe"]
    except (OSError, ValueError, KeyError, TypeError):
        return "it has no readable manifest" if folder.exists() else "it is not there"
    if found != (SCHEMA, recipe):
        return "it was made by another version of the lab"
    wrong = (f"{name} {what}" for name, entry in entries.items() if (what := _wrong(folder / name, entry, checksums)))
    return next(wrong, "")


def _wrong(file: Path, entry: dict[str, Any], checksums: bool) -> str:
    if not file.is_file():
        return "is missing"
    if file.stat().st_size != entry["size"]:
        return "has the wrong size"
    if checksums and sha256(file) != entry["sha256"]:
        return "has the wrong checksum"
    return ""


def _entry(file: Path) -> dict[str, Any]:
    return {"size": file.stat().st_size, "sha256": sha256(file)}


def sha256(file: Path) -> str:
    """Hex sha256 of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
