"""The example of a task of one's own is broken as it comes, and its script solves it."""

from pathlib import Path

from labkit.agents.tasks import load_task
from labkit.experiments.lessons.own_agent import played

FOLDER = Path(__file__).parents[3] / "data" / "lessons" / "late-fee"


def test_the_example_is_solved_by_its_script_and_by_nothing_less(tmp_path):
    task = load_task(str(FOLDER))
    with task.workspace() as workspace:
        assert not task.check(workspace).passed
    done = played(FOLDER, "cpu-smollm2", tmp_path / "runs")
    assert done.outcome.reached is True
    results = [
        message["content"] for step in done.recording.steps for message in step.append if message["role"] == "tool"
    ]
    assert "FAILED" in results[0]
    assert results[-2].endswith("OK")  # the last one only hands the work in
