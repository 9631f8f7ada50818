"""A task outside the project: taken by its folder's path, whole or refused by what it lacks."""

import shutil
from pathlib import Path

import pytest

from labkit.agents.tasks import list_tasks, load_task
from labkit.core.errors import BadInput, UnknownName
from labkit.experiments.agent_run import AgentAsked, run_live
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import RunStore

SHIPPED = "ranks-that-jump"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return Path(shutil.copytree(load_task(SHIPPED).folder, tmp_path / "mine"))


def test_a_folder_is_a_task_by_its_path(own: Path, monkeypatch: pytest.MonkeyPatch):
    task = load_task(str(own))
    assert (task.name, task.folder) == ("mine", own)
    assert task.goal == load_task(SHIPPED).goal
    monkeypatch.chdir(own.parent)
    assert load_task("./mine") == task
    assert "mine" not in list_tasks()


def test_a_bare_name_is_one_of_the_projects(own: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(own.parent)
    with pytest.raises(UnknownName):
        load_task("mine")


async def test_it_is_worked_at_judged_and_recorded_like_any_other(own: Path, tmp_path: Path):
    asked = AgentAsked(task=str(own), profile="cpu-smollm2", model="scripted", with_engine=False)
    done = await run_live(asked, StaticProvider({}, "none"), store=RunStore(tmp_path / "runs"))
    assert done.outcome.reached is True
    assert done.recording.header.task == "mine"
    assert set(done.run.steps()["task"]) == {"mine"}


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("task.toml", "a folder with task.toml"),
        ("workspace/tests/__init__.py", r"mine/workspace/tests.*__init__\.py"),
        ("check/test_hidden.py", r"mine/check.*test\*\.py"),
    ],
)
def test_what_it_lacks_is_named(own: Path, gone: str, said: str):
    (own / gone).unlink()
    with pytest.raises(BadInput, match=said):
        load_task(str(own))


def test_a_folder_that_is_not_there_is_no_unknown_name(tmp_path: Path):
    with pytest.raises(BadInput, match=r"task\.toml") as error:
        load_task(str(tmp_path / "none"))
    assert not isinstance(error.value, UnknownName)
    assert "labkit tasks" in error.value.hint
