"""Runs that come with the project, zipped in `data/runs/`: measured elsewhere, and never mixed with one's own.

A page or a command shows one when it is asked for by its id, or as `example`.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from labkit.core.errors import RunUnreadable
from labkit.core.paths import data_dir
from labkit.core.records import RunInfo
from labkit.store.layout import RUN
from labkit.store.migrations import RUN_UPGRADES, known_schema, upgraded

EXAMPLE = "example"
"""The name by which the first of them is opened."""


def examples() -> dict[str, Path]:
    """Id to the zipped folder, which is called by the id. Empty where none was shipped.

    A factorial stands first, since every page has something to show of it; then the newest.
    """
    newest = sorted((data_dir() / "runs").glob("*.zip"), reverse=True)
    return {path.stem: path for path in sorted(newest, key=lambda path: "-factorial-" not in path.stem)}


def example_named(name: str) -> Path | None:
    """The zipped folder of the example of this id, or of the newest one for `example`; None when there is none."""
    found = examples()
    return next(iter(found.values()), None) if name == EXAMPLE else found.get(name)


def info_in(path: Path) -> RunInfo:
    """What the run in a zipped folder says about itself, without unpacking it. Raises RunUnreadable."""
    try:
        with zipfile.ZipFile(path) as archive:
            name = min((n for n in archive.namelist() if Path(n).name == RUN), key=len)
            data = json.loads(archive.read(name))
        return RunInfo.from_dict(upgraded(data, known_schema(name, data.get("schema")), RUN_UPGRADES))
    except (OSError, ValueError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise RunUnreadable(f"{path} cannot be read: {error}", "Restore it from the project's repository.") from error
