"""Each task is broken as it comes, can be solved with its own tools, and is judged by tests that nobody saw."""

import asyncio
from pathlib import Path

import pytest

from labkit.agents.loop import Loop
from labkit.agents.scripted import Script, ScriptedModel, load_script
from labkit.agents.steps import Outcome, Step
from labkit.agents.tasks import CHECK, list_tasks, load_task
from labkit.agents.tools import Toolbox
from labkit.agents.workspace import Workspace
from labkit.core.errors import BadInput, UnknownName

TASKS = list_tasks()


def play(name: str, script: Script, workspace: Workspace) -> tuple[Outcome, list[Step]]:
    task, steps = load_task(name), list[Step]()
    model = ScriptedModel(script)
    return asyncio.run(Loop(task.goal, model, Toolbox(workspace), task.limits, on_step=steps.append).run()), steps


def test_there_are_enough_of_them():
    assert len(TASKS) >= 6


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_solved_by_its_script_and_by_nothing_less(name: str):
    task = load_task(name)
    with task.workspace() as workspace:
        assert not task.check(workspace).passed, "the hidden check passes before anything was done"
        outcome, steps = play(name, load_script(task.folder / "script.toml"), workspace)
        after = task.check(workspace)
        assert after.passed, after.output
    assert outcome.stop_reason == "finished"
    assert 15 <= outcome.steps <= task.limits.steps
    assert {step.kind for step in steps} == {"plan", "act", "observe", "evaluate", "answer"}
    tests = [step.tool.result for step in steps if step.tool and step.tool.name == "run_tests"]
    assert "FAILED" in tests[0]
    assert tests[-1].endswith("OK")


@pytest.mark.parametrize("name", TASKS)
def test_a_script_that_does_nothing_fails(name: str):
    task = load_task(name)
    with task.workspace() as workspace:
        outcome, _ = play(name, Script(), workspace)
        assert not task.check(workspace).passed
    assert (outcome.stop_reason, outcome.steps) == ("finished", 3)


@pytest.mark.parametrize("name", TASKS)
def test_the_tests_that_the_agent_sees_do_not_give_the_check_away(name: str):
    folder = load_task(name).folder
    seen = {line.strip() for path in folder.glob("workspace/tests/*.py") for line in path.read_text().splitlines()}
    hidden = [line.strip() for line in (folder / "check/test_hidden.py").read_text().splitlines()]
    asserted = [line for line in hidden if line.startswith("self.assert")]
    assert len(asserted) >= 5
    assert not seen & set(asserted)


def test_the_check_is_never_in_the_workspace():
    task = load_task(TASKS[0])
    with task.workspace() as workspace:
        play(TASKS[0], load_script(task.folder / "script.toml"), workspace)
        task.check(workspace)
        assert not [path for path in workspace.root.rglob("*") if "hidden" in path.name]


def test_the_project_is_left_as_it_was():
    task = load_task(TASKS[0])
    before = {path: path.read_bytes() for path in task.folder.rglob("*.py")}
    with task.workspace() as workspace:
        play(TASKS[0], load_script(task.folder / "script.toml"), workspace)
        root = workspace.root
    assert {path: path.read_bytes() for path in task.folder.rglob("*.py")} == before
    assert not root.exists()


def test_tests_that_were_tampered_with_are_put_back_before_the_check():
    task = load_task(TASKS[0])
    with task.workspace() as workspace:
        for path in (workspace.root / "tests").glob("*.py"):
            path.write_text("")
        (workspace.root / CHECK).mkdir()
        (workspace.root / CHECK / "test_hidden.py").write_text("")
        assert not task.check(workspace).passed


def test_an_unknown_task_names_the_nearest():
    with pytest.raises(UnknownName, match="evict-one-late"):
        load_task("evict-one-lat")


@pytest.mark.parametrize(
    "text", ["title = 'x'", "title = 'x'\ngoal = 'y'\nspeed = 3", "title = 'x'\ngoal='y'\n[limits]\nsteps = 0", "="]
)
def test_a_wrong_task_file_names_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str):
    (tmp_path / "tasks/mine").mkdir(parents=True)
    (tmp_path / "tasks/mine/task.toml").write_text(text)
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))
    with pytest.raises(BadInput, match=r"mine/task\.toml"):
        load_task("mine")


def test_a_script_that_is_wrong_or_missing_is_named(tmp_path: Path):
    (tmp_path / "script.toml").write_text("plan = 'x'")
    for path in (tmp_path / "script.toml", tmp_path / "none.toml"):
        with pytest.raises(BadInput, match=path.name):
            load_script(path)
