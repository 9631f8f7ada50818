"""The tasks: a goal, a small package with a real bug, and a hidden check that says whether the goal was reached.

`data/tasks/<name>/`, or a folder of one's own: `task.toml` (title, goal, limits), `workspace/` (what the agent sees, a
copy of it), `check/` (unittest tests that it never sees), `script.toml` (a known solution, for ScriptedModel alone).
"""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, PositiveFloat, PositiveInt, ValidationError

from labkit.agents.judge import Judged, judge
from labkit.agents.offers import TESTS
from labkit.agents.steps import Limits
from labkit.agents.workspace import Workspace, copy_in
from labkit.core.errors import BadInput
from labkit.core.names import pick
from labkit.core.paths import data_dir

CHECK = "hidden_check"
_LIST = "labkit tasks"


class _LimitsFile(BaseModel):
    model_config = ConfigDict(extra="forbid")
    steps: PositiveInt = 30
    tokens: PositiveInt = 6500
    seconds: PositiveFloat = 900.0


class _TaskFile(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str
    goal: str
    limits: _LimitsFile = _LimitsFile()


@dataclass(frozen=True, kw_only=True)
class Task:
    """One task and where its folder is."""

    name: str
    title: str
    goal: str
    folder: Path
    limits: Limits = field(default_factory=Limits)

    @contextmanager
    def workspace(self) -> Iterator[Workspace]:
        """A fresh copy of the workspace, gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="labkit-") as folder:
            copy_in(self.folder / "workspace", Path(folder))
            with Workspace(Path(folder)) as workspace:
                yield workspace

    def check(self, workspace: Workspace) -> Judged:
        """Run the hidden check on a copy of what the agent left; the tests that it was shown are put back first."""
        with tempfile.TemporaryDirectory(prefix="labkit-") as name:
            folder = Path(name)
            workspace.copy_to(folder)
            shutil.rmtree(folder / TESTS, ignore_errors=True)
            copy_in(self.folder / "workspace" / TESTS, folder / TESTS)
            copy_in(self.folder / "check", folder / CHECK)
            return judge(folder, CHECK)


def list_tasks() -> list[str]:
    """The names of the tasks."""
    return list(_folders())


def load_task(name: str) -> Task:
    """The task of this name, or the one in this folder; a path has a `/`, as `./mine` does.

    Raises UnknownName, or BadInput when its file is wrong or a folder of one's own lacks what a task needs.
    """
    folder = _own(name) if "/" in name else pick("task", name, _folders(), _LIST)
    path, name = folder / "task.toml", folder.name
    try:
        read = _TaskFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise BadInput(f"{name}/task.toml", str(error), "title, goal and limits (steps, tokens, seconds)") from error
    return Task(name=name, title=read.title, goal=read.goal, folder=folder, limits=Limits(**read.limits.model_dump()))


def _folders() -> dict[str, Path]:
    return {path.parent.name: path.parent for path in sorted((data_dir() / "tasks").glob("*/task.toml"))}


def _own(path: str) -> Path:
    """A folder that does not come with the project. Raises BadInput naming what is not there."""
    folder = Path(path).expanduser().resolve()
    if not (folder / "task.toml").is_file():
        hint = f"List those that come with the project: {_LIST}"
        raise BadInput("task", path, "a folder with task.toml, workspace/ and check/", hint)
    for tests in (f"workspace/{TESTS}", "check"):
        if not (folder / tests / "__init__.py").is_file() or not any((folder / tests).glob("test*.py")):
            allowed = f"{tests}/ with __init__.py and a test*.py of unittest tests"
            raise BadInput(f"{folder.name}/{tests}", None, allowed, "See data/tasks/ for whole tasks.")
    return folder
