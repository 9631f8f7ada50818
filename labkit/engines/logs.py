"""Reading the end of a log file that may be long and is still being written."""

from __future__ import annotations

import re
from pathlib import Path

_BLOCK = 64 << 10
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def tail(path: Path, lines: int) -> list[str]:
    """The last `lines` lines of `path`, oldest first, without colour codes; empty when there is no such file."""
    if not path.is_file():
        return []
    with path.open("rb") as log:
        size = log.seek(0, 2)
        log.seek(max(0, size - max(_BLOCK, lines * 400)))
        text = log.read().decode("utf-8", errors="replace")
    return [_COLOUR.sub("", line) for line in text.splitlines() if line.strip()][-lines:]
