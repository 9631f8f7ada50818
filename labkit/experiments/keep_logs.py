"""Copies of the engine's logs in the run folder, so that a folder that was mailed still says what its engines said.

Without secrets: an engine prints the options that it was started with.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labkit.core.masking import masked_text
from labkit.experiments.serving import Served


@contextmanager
def kept_logs(served: Served, folder: Path) -> Iterator[None]:
    """Copy the logs when the block ends, however it ends. A log that is gone, or a full disk, loses only the copy."""
    try:
        yield
    finally:
        for role, log in served.logs.items():
            try:
                _copy(Path(log), folder / f"{served.engine}-{role}.log")
            except OSError:
                continue


def _copy(log: Path, copy: Path) -> None:
    with log.open(encoding="utf-8", errors="replace") as lines, copy.open("w", encoding="utf-8") as kept:
        kept.writelines(map(masked_text, lines))
