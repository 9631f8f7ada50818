"""Reading the end of a log file that may be long and is still being written."""

from __future__ import annotations

import re
from pathlib import Path

from labkit.core.masking import masked_text

_BLOCK = 64 << 10
_MOST = 256 << 10
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def tail(path: Path, lines: int) -> list[str]:
    """The last `lines` lines of `path`, oldest first, without colour codes and secrets; empty when it is not there."""
    if not path.is_file():
        return []
    with path.open("rb") as log:
        size = log.seek(0, 2)
        log.seek(max(0, size - max(_BLOCK, lines * 400)))
        text = log.read().decode("utf-8", errors="replace")
    return [masked_text(line) for line in _lines(text)[-lines:]]


def end_of(path: Path, most: int = _MOST) -> tuple[list[str], int]:
    """The whole lines within the last `most` bytes of `path`, without colour codes, and the bytes of the file.

    Secrets are still in them: mask what is shown. No lines and 0 when there is no such file.
    """
    if not path.is_file():
        return [], 0
    with path.open("rb") as log:
        size = log.seek(0, 2)
        start = max(0, size - most)
        log.seek(start)
        text = log.read(most).decode("utf-8", errors="replace")
    return _lines(text.partition("\n")[2] if start else text), size


def _lines(text: str) -> list[str]:
    return [_COLOUR.sub("", line) for line in text.splitlines() if line.strip()]
