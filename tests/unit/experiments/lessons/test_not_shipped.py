"""A run that nobody measured is a sentence and no outcome; one that is there is opened."""

from __future__ import annotations

from builders import a_step, frame_of
from run_folders import ended
from synthetic import steps

from labkit.experiments.lessons.block_sizes import measured_size
from labkit.experiments.lessons.not_shipped import measured_if_there
from labkit.experiments.lessons.whose_words import both_histories, there


def test_what_was_not_measured_is_said_and_nothing_stands_in_for_it():
    said: list[str] = []
    assert measured_if_there("replay", {}, "stored", "", said.append) is None
    assert said == ['Not measured: no such replay comes with the project yet. ENGINE = "live" measures it.']
    assert measured_size(frame_of([a_step()]), None).holds is None
    assert both_histories(None, None).holds is None
    assert there({"live": None}) == {}


def test_what_was_measured_is_opened(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))
    run = ended(steps(("prefix",), turns=2))
    found = measured_if_there("replay", {}, "stored", run, [].append)
    assert found is not None
    assert list(there({"live": found, "none": None})) == ["live"]
