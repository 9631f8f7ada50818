"""What is up on this machine: one JSON file per engine, readable by every process of this user.

    <state>/engines/<id>/engine.json    plan, processes, who started it
    <state>/engines/<id>/<role>.log     what each process wrote; kept after the engine has ended, for a while
    <state>/engines/<id>/lock           held by the run that uses the engine
    <state>/engines/<id>/adopted        there when somebody else than its starter wants it to stay up

Only the plan's own environment is stored, never the inherited one: nothing secret can get in.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from labkit.core.names import unknown
from labkit.core.records import Record
from labkit.engines.plan_records import Plan
from labkit.engines.process import ProcessState, group, is_alive

Status = Literal["starting", "up", "dead", "orphaned"]
_KEPT_FOLDERS = 20


@dataclass(frozen=True, kw_only=True)
class Engine(Record):
    """A served model behind one base URL. `owner`: the process that started it; `ready`: it has answered."""

    id: str
    plan: Plan
    processes: tuple[ProcessState, ...]
    owner: ProcessState
    ready: bool = False

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return super().from_dict(
            {
                **data,
                "plan": Plan.from_dict(data["plan"]),
                "processes": tuple(ProcessState.from_dict(process) for process in data["processes"]),
                "owner": ProcessState.from_dict(data["owner"]),
            }
        )

    @property
    def base_url(self) -> str:
        """`http://127.0.0.1:PORT` of the process that takes requests; without `/v1`."""
        return f"http://127.0.0.1:{self.plan.entry.port}"

    @property
    def model(self) -> str:
        """The served name that requests must carry."""
        return self.plan.model

    @property
    def metrics_urls(self) -> dict[str, str]:
        """/metrics of every process that has an engine's counters, by role."""
        return {process.role: f"{process.url}/metrics" for process in self.processes if process.metrics}

    @property
    def alive(self) -> bool:
        """Whether it was ready and every process still runs. Says nothing about the next request."""
        return self.status == "up"

    @property
    def status(self) -> Status:
        """`starting` (its starter is at it), `up`, `dead` (a process is gone), `orphaned` (its starter is gone)."""
        complete = len(self.processes) == len(self.plan.layout)
        if self.ready:
            return "up" if complete and all(map(is_alive, self.processes)) else "dead"
        if is_alive(self.owner):
            return "starting"
        return "orphaned" if any(group(process) for process in self.processes) else "dead"

    @property
    def dead_roles(self) -> list[str]:
        """Roles whose process has ended."""
        return [process.role for process in self.processes if not is_alive(process)]

    def process(self, role: str) -> ProcessState:
        """The process with this role. Raises UnknownName."""
        for process in self.processes:
            if process.role == role:
                return process
        raise unknown("role", role, [process.role for process in self.processes], "labkit ps")


class Registry:
    """The folder of engine files."""

    def __init__(self, state_dir: Path) -> None:
        self.folder = state_dir / "engines"

    def engine_folder(self, engine_id: str) -> Path:
        return self.folder / engine_id

    def write(self, engine: Engine) -> None:
        """Keep `engine`; a reader sees the old file or the new one, never half of it."""
        folder = self.engine_folder(engine.id)
        folder.mkdir(parents=True, exist_ok=True)
        fresh = folder / f".engine.{os.getpid()}"
        fresh.write_text(json.dumps(engine.to_dict(), indent=1), encoding="utf-8")
        fresh.replace(folder / "engine.json")

    def read_all(self) -> list[Engine]:
        """Every engine that is registered, oldest first, dead ones too."""
        return sorted(self._read(), key=lambda engine: engine.owner.created)

    def adopt(self, engine: Engine) -> None:
        """Note that `engine` is to stay up, whatever its starter meant to do with it."""
        (self.engine_folder(engine.id) / "adopted").touch()

    def adopted(self, engine: Engine) -> bool:
        """Whether it was noted."""
        return (self.engine_folder(engine.id) / "adopted").exists()

    def forget(self, engine: Engine) -> None:
        """Drop the entry; the logs stay until twenty newer engines have left theirs."""
        (self.engine_folder(engine.id) / "engine.json").unlink(missing_ok=True)
        ended = [folder for folder in self.folder.iterdir() if not (folder / "engine.json").exists()]
        for folder in sorted(ended, key=lambda path: path.stat().st_mtime)[:-_KEPT_FOLDERS]:
            shutil.rmtree(folder, ignore_errors=True)

    def _read(self) -> Iterator[Engine]:
        for path in self.folder.glob("*/engine.json"):
            try:
                yield Engine.from_dict(json.loads(path.read_text(encoding="utf-8")))
            except FileNotFoundError:  # ended while we were looking
                continue


def with_process(engine: Engine, process: ProcessState) -> Engine:
    """`engine` with one more process."""
    return replace(engine, processes=(*engine.processes, process))
