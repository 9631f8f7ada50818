"""What a run folder looks like, and its `run.json`.

runs/20260131T120000Z-quick-3fa2c1/
  run.json           RunInfo, and the writer's process; replaced whole, never edited
  events.jsonl       the truth: everything that happened, one line each, the schema in the first
  steps.parquet      made from the events when the run ends; so are the next two
  chunks.parquet
  telemetry.parquet
  recordings.jsonl   recordings that the run made, or replayed
  logs/              one log per engine process
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from labkit.core.errors import RunUnreadable
from labkit.core.records import RunInfo
from labkit.store.jsonl import cannot_write, to_json
from labkit.store.migrations import RUN_UPGRADES, known_schema, upgraded

RUN, EVENTS, RECORDINGS, LOGS = "run.json", "events.jsonl", "recordings.jsonl", "logs"
SAME_PROCESS_S = 2.0
"""Start times of one process differ by less: they move with adjustments of the wall clock."""


@dataclass(frozen=True)
class Owner:
    """The process that writes a run: a pid and when it started, since pids are used again."""

    pid: int
    started: float

    @classmethod
    def this_process(cls) -> Owner:
        return cls(os.getpid(), psutil.Process().create_time())

    def alive(self) -> bool:
        """Whether this very process still runs on this machine. A killed one that nobody has reaped does not."""
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) < SAME_PROCESS_S
            return same and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False


def replace_file(path: Path, content: bytes) -> None:
    """Write `path` whole or not at all. Raises LabError when the disk refuses."""
    draft = path.with_name(f".{path.name}.new")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise cannot_write(path, error) from error


def write_run_json(folder: Path, info: RunInfo, owner: Owner) -> None:
    """Replace `run.json`. Raises LabError when the disk refuses."""
    writer = {"pid": owner.pid, "started": owner.started}
    replace_file(folder / RUN, to_json({**info.to_dict(), "writer": writer}, indent=2).encode())


def read_run_json(folder: Path) -> tuple[RunInfo, Owner | None]:
    """What `run.json` says, upgraded to the newest schema.

    Raises RunUnreadable when it is missing, damaged or of a newer schema.
    """
    path = folder / RUN
    try:
        data = json.loads(path.read_text())
        schema = known_schema(str(path), data.get("schema"))
        data = upgraded(data, schema, RUN_UPGRADES)
        return RunInfo.from_dict(data), _owner(data)
    except FileNotFoundError as error:
        raise RunUnreadable(f"{folder} is not a run folder: it has no {RUN}", "List runs with: labkit runs") from error
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise RunUnreadable(f"{path} cannot be read: {error}", "Restore it from a copy of the folder.") from error


def _owner(data: dict[str, Any]) -> Owner | None:
    writer = data.get("writer")
    return Owner(int(writer["pid"]), float(writer["started"])) if isinstance(writer, dict) else None
