"""Copies of the engine's logs in the run folder, so that a folder that was mailed still says what its engines said."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labkit.experiments.serving import Served


@contextmanager
def kept_logs(served: Served, folder: Path) -> Iterator[None]:
    """Copy the logs when the block ends, however it ends. A log that is gone, or a full disk, loses only the copy."""
    try:
        yield
    finally:
        for role, log in served.logs.items():
            try:
                shutil.copyfile(log, folder / f"{served.engine}-{role}.log")
            except OSError:
                continue
