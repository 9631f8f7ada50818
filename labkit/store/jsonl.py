"""Append-only JSON lines: one line is one fact, written at once, so that a kill loses at most the line in flight.

Lines are ASCII (JSON escapes), so that neither a lone surrogate in a model's text nor an exotic line separator can
damage the file. A line is whole when it ends with a newline; whatever follows the last newline is in flight or torn.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.core.errors import BadInput, LabError


def cannot_write(path: Path, error: OSError) -> LabError:
    """The error for a file or folder that the system does not let us write, in its own words."""
    return LabError(
        f"{path} cannot be written: {error.strerror or error}",
        "Free space or rights there, or write elsewhere: --out for what is exported, LABKIT_RUNS for runs.",
    )


def _plain(value: Any) -> Any:
    """What json cannot write by itself: records, paths, numpy scalars."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    raise BadInput("event data", value, "values that JSON can hold", f"Found a {type(value).__name__}.")


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value


def to_json(value: Any, indent: int | None = None) -> str:
    """JSON text of `value`; a number that is not finite becomes null. Raises BadInput for what JSON cannot hold."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False, indent=indent)
    except ValueError:
        plain = json.loads(json.dumps(value, default=_plain))
        return json.dumps(_without_nan(plain), allow_nan=False, indent=indent)


class JsonlWriter:
    """Appends lines to one file. One writer per file; safe to share among threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise cannot_write(path, error) from error

    def append(self, value: Mapping[str, Any]) -> None:
        """Write one line. Raises LabError when the disk refuses; the file then ends with the line before."""
        line = to_json(value).encode() + b"\n"
        with self._lock:
            good = os.fstat(self._file.fileno()).st_size
            try:
                self._write_all(line)
            except OSError as error:
                os.ftruncate(self._file.fileno(), good)
                raise cannot_write(self.path, error) from error

    def _write_all(self, line: bytes) -> None:
        while line:
            line = line[self._file.write(line) :]

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a file. `data` is None where the line is damaged; `end`: byte offset just after it."""

    number: int
    end: int
    data: dict[str, Any] | None
    torn: bool = False


def read_lines(path: Path, after: int = 0, first_number: int = 1) -> Iterator[Line]:
    """The lines of `path` from byte offset `after` on; a last line without newline is reported as `torn`.

    A file that is not there has no lines. `first_number`: the number of the line that starts at `after`.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(after)
        end = after
        for number, raw in enumerate(file, first_number):
            torn = not raw.endswith(b"\n")
            end += 0 if torn else len(raw)
            yield Line(number=number, end=end, data=None if torn else _parsed(raw), torn=torn)


def read_heads(path: Path, having: Sequence[bytes], before: bytes) -> Iterator[dict[str, Any]]:
    """The objects of the whole lines with all of `having`, each up to the last `before` in it: what follows is long.

    A line that cannot be read is left out, and so is one that is torn.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for raw in file:
            if not raw.endswith(b"\n") or not all(words in raw for words in having):
                continue
            cut = raw.rfind(before)
            if (head := _parsed(raw if cut < 0 else raw[:cut] + b"}")) is not None:
                yield head


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        data = json.loads(raw)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
