"""A notebook's run, opened: which it is, where it was measured, what it notes; and the sentence after a prediction."""

from __future__ import annotations

import pytest
from run_folders import ended
from synthetic import steps

from labkit.core.errors import BadInput, UnknownName
from labkit.experiments.lessons.measured import measured, over_itself, where
from labkit.experiments.lessons.outcome import unmeasured
from labkit.experiments.lessons.told import told
from labkit.store.runs import RunStore


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch) -> RunStore:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    return RunStore()


def test_a_stored_run_is_opened_and_says_what_it_is(store):
    said: list[str] = []
    run = ended(steps(("base",), turns=2), note="first\nsecond")
    assert measured("quick", {}, "stored", run, said.append).id == run
    head, *notes = said[-1].splitlines()
    assert head.startswith(f"stored run {run}, measured on 20")
    assert head.endswith("; done.")
    assert notes == ["  note: first", "  note: second"]


def test_a_stored_run_says_what_it_was_asked_otherwise():
    said: list[str] = []
    run = ended(steps(("base",), turns=2), arms=["base"])
    question = {"arms": ("base", "prefix"), "steps": 4, "recording": "/elsewhere/tiny.jsonl", "window": 3.0}
    measured("quick", question, "stored", run, said.append)
    assert said[-1].splitlines()[1:] == ["  asked of it: arms base (above: base, prefix)"]
    measured("steps", {"steps": None}, "stored", run, said.append)
    assert said[-1].splitlines()[1:] == ["  it is a run of replay, not steps", "  asked of it: steps 4 (above: all)"]


def test_where_names_the_processor_when_it_is_known(store):
    cpu = {"cpu": {"model": "Xeon", "cores": 2}}
    with store.create("quick", {}, cpu) as writer:
        pass
    assert "on 2 cores of an Xeon; done." in where(store.open(writer.id), "live")


@pytest.mark.parametrize("engine", ["", "fake", "Stored"])
def test_another_engine_is_refused_by_name(engine):
    with pytest.raises(BadInput, match=r"ENGINE.*live or stored"):
        measured("quick", {}, engine, "latest")


def test_a_run_without_a_step_is_no_lesson():
    with pytest.raises(BadInput, match="at least one finished step"):
        measured("quick", {}, "stored", ended([], note="the engine was refused"))


def test_a_run_that_is_not_there_is_named():
    with pytest.raises(UnknownName, match="no-such"):
        measured("quick", {}, "stored", "no-such")


def test_progress_is_written_over_itself_where_it_is_printed(capsys):
    say = over_itself(print)
    say("a long line of progress")
    say("short")
    written = capsys.readouterr().out
    assert written.count("\r") == 2
    assert "\n" not in written
    assert len(written.split("\r")[1]) == len(written.split("\r")[2])
    lines: list[str] = []
    assert over_itself(lines.append) == lines.append


def test_four_ways_to_meet_a_prediction():
    assert told("it halves", True, "it took 48 % (n 8)") == "**As predicted:** it took 48 % (n 8)."
    assert told("it halves", False, "it doubled") == "**Surprise:** predicted was that it halves, but it doubled."
    assert told("it halves", None, "n is 2") == "**Too few to tell:** predicted was that it halves; n is 2."
    assert (
        told("it halves", *unmeasured("nobody asked")) == "**Not measured:** predicted is that it halves; nobody asked."
    )
    with pytest.raises(BadInput, match="saw"):
        told("it halves", True, " ")
