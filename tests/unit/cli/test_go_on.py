"""What is said last of a run: how to see it again, to begin anew, or which one can be gone on with."""

from pathlib import Path

import pytest
from builders import a_step

from labkit.cli.factorial_view import go_on
from labkit.cli.go_on import go_on_lines
from labkit.core.errors import BadInput
from labkit.core.records import RunState
from labkit.experiments.factorial import FACTORIAL_RECORDINGS
from labkit.store.runs import Run, RunStore


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path / "state"))
    return RunStore()


def a_run(store: RunStore, experiment: str = "replay", state: RunState = "cancelled", *, steps: int = 1) -> Run:
    asked = {"profile": "cpu-smollm2", "recording": "r", "arms": ["base", "prefix"], "steps": 3}
    if experiment == "factorial":
        asked = {"profile": "cpu-smollm2", "recordings": [FACTORIAL_RECORDINGS[0]], "arms": ["base"], "seed": 1}
    with store.create(experiment, asked, {}) as writer:
        writer.step(a_step(writer.id, task="warmup", warmup=True), [])
        for turn in range(1, steps + 1):
            writer.step(a_step(writer.id, turn=turn), [])
        writer.finish(state)
    return store.open(writer.id)


def test_a_run_that_measured_nothing_is_not_to_be_seen_again(store: RunStore):
    assert list(go_on_lines(a_run(store, steps=0))) == [
        "Nothing was measured, so there is nothing to see again.",
        "Only labkit run factorial can be gone on with. Begin anew: labkit replay r --steps 3",
    ]
    failed = list(go_on_lines(a_run(store, state="failed", steps=0)))
    assert failed[1:] == ["Begin anew: labkit replay r --steps 3"]


def test_a_replay_that_was_stopped_says_that_it_cannot_be_resumed(store: RunStore):
    run = a_run(store)
    seen, anew = go_on_lines(run)
    assert seen.startswith(f"See it again: labkit show {run.id}.")
    assert anew == "Only labkit run factorial can be gone on with. Begin anew: labkit replay r --steps 3"
    assert len(list(go_on_lines(a_run(store, state="done")))) == 1
    assert len(list(go_on_lines(a_run(store, "factorial")))) == 1


def test_latest_is_the_newest_factorial_and_another_kind_is_told_which_that_is(store: RunStore):
    def resume(name: str) -> None:
        go_on(name, anyway=False, attached=[], job=None, as_json=False)

    other = a_run(store, state="done")
    with pytest.raises(BadInput, match=r"replay") as error:
        resume("latest")
    assert "There is none yet: labkit run factorial" in error.value.hint
    factorial = a_run(store, "factorial", state="done")
    newer = a_run(store, state="done")
    for each in (other, newer):
        with pytest.raises(BadInput) as error:
            resume(each.id)
        assert f"The newest factorial is {factorial.id}." in error.value.hint
    with pytest.raises(BadInput, match=f"resume: '{factorial.id}'.*cut short"):
        resume("latest")
