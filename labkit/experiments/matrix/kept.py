"""The kept answers of an engine: `data/matrix/<profile>.json`, with version, platform and date.

They are found by plan key. A plan that has changed since has another key, and is not tried.
"""

from __future__ import annotations

import json
from pathlib import Path

from labkit.core.errors import BadInput
from labkit.core.paths import data_dir
from labkit.engines.accepts.plans import PlansTold
from labkit.experiments.matrix.cells import CellTable


def told_file(profile: str, folder: Path | None = None) -> Path:
    """Where the answers about the profile of this name are, or would be. Raises BadInput for a path as a name."""
    if Path(profile).name != profile:
        raise BadInput("profile", profile, "a name without slashes")
    return (folder or data_dir() / "matrix") / f"{profile}.json"


def read_told(profile: str, folder: Path | None = None) -> PlansTold | None:
    """What was kept; None where nothing was. Raises BadInput where the file is damaged."""
    path = told_file(profile, folder)
    if not path.is_file():
        return None
    try:
        return PlansTold.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(path.name, str(error), "a file of kept answers", again(profile)) from error


def keep_told(told: PlansTold, tables: tuple[CellTable, ...], folder: Path | None = None) -> Path:
    """Write them down, in the order of the tables. Raises BadInput where the engine is not here to be asked."""
    if told.version is None:
        raise BadInput("answers", None, f"those of an installed {told.engine}", "Install the engine: make setup")
    path = told_file(tables[0].profile.name, folder)
    names = {cell.key: f"{table.profile.name}: {cell.arm}" for table in tables for cell in table.cells if cell.plan}
    verdicts = {key: {"cell": name, **told.verdicts[key].to_dict()} for key, name in names.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = {**told.to_dict(), "verdicts": verdicts}
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def again(profile: str) -> str:
    return f"Ask again: labkit matrix --profile {profile} --refresh"
