"""Export files appear whole or not at all, and are written line by line: a long run does not fit in memory twice."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from labkit.store.jsonl import cannot_write, to_json


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A text file that gets its name when the block has ended well. Raises LabError when the disk refuses."""
    draft = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8") as file:
            yield file
        draft.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """One JSON object per line."""
    with whole_file(path) as file:
        for row in rows:
            file.write(f"{to_json(row)}\n")
    return path


def write_json(path: Path, value: Mapping[str, Any]) -> Path:
    """One indented JSON object."""
    with whole_file(path) as file:
        file.write(f"{to_json(value, indent=2)}\n")
    return path


def known(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values without those that are None: what was not measured is left out."""
    return {key: value for key, value in values.items() if value is not None}
