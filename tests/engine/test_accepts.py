"""The vLLM that is installed answers the article's lines, and as the kept answers say."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from labkit.engines.accepts import Answers, ask
from labkit.engines.accepts.configs import model_configs
from labkit.experiments.lessons.article_answers import read_answers
from labkit.experiments.lessons.article_lines import LINES, all_questions
from labkit.experiments.lessons.article_models import DRAFT, STAND_INS

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def told() -> Answers:
    return ask(all_questions(), STAND_INS, python=sys.executable)


def test_every_line_gets_an_answer(told: Answers) -> None:
    assert told.vllm
    assert {answer.id: answer.said for answer in told.answers if answer.status == "no answer"} == {}


def test_the_import_fails_in_the_engine_s_own_python(told: Answers) -> None:
    answer = told.of("connection")
    assert answer.status == "refused"
    assert "ImportError: cannot import name 'global_force_connection' from 'vllm.connections'" in answer.said
    names = next(iter(told.of("connections").read.values()))
    assert "global_http_connection" in names
    assert "global_force_connection" not in names


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("spec-keyword", "unexpected keyword argument 'speculative_model'"),
        ("spec-length", "unexpected keyword argument 'speculative_max_model_len'"),
        ("spec-flag", "unrecognized arguments: --speculative-model"),
        ("yaml", "unrecognized arguments: --mori-io"),
        ("one-level-up", "buffer_size_mb"),
    ],
)
def test_what_it_refuses_it_refuses_by_name(told: Answers, line: str, words: str) -> None:
    answer = told.of(line)
    assert answer.status == "refused"
    assert words in answer.said
    assert "/tmp" not in answer.said


@pytest.mark.parametrize("line", ["fp8", "timeout", "retry", "transfers", "buffer", "misspelt"])
def test_a_connector_s_unknown_keys_change_nothing_without_a_word(told: Answers, line: str) -> None:
    answer = told.of(line)
    assert (answer.status, answer.read, answer.warned) == ("ignored", {}, ())
    assert answer.compared > 30


def test_today_s_lines_are_accepted_and_do_what_they_say(told: Answers) -> None:
    today = {line.today.id: told.of(line.today.id) for line in LINES if line.today}
    assert {name: answer.said for name, answer in today.items() if answer.status != "accepted"} == {}
    assert told.of("spec-length-today").read == {"max_model_len": 8192}
    assert told.of("spec-keyword-today").read == {"method": "draft_model"}
    assert told.of("spec-flag-today").read == {"spec_method": "draft_model", "spec_model": DRAFT}
    assert told.of("yaml-today").read == {"kv_cache_dtype": "fp8"}
    assert told.of("timeout-today").read == {"transfer_timeout": [30.0, 5.0]}
    assert told.of("transfers-today").read == {"num_workers": [1, 8]}
    assert told.of("retry-today").read == {"retry_max_retries": 3}


def test_a_made_up_model_passes_the_parser_like_any_other(told: Answers) -> None:
    assert {told.of(name).status for name in ("draft-name", "draft-name-control", "draft-name-today")} == {"accepted"}


def test_prefix_caching_is_on_when_nobody_says(told: Answers) -> None:
    assert told.of("default").read["enable_prefix_caching"] is True


def test_the_kept_answers_are_those_of_this_engine(told: Answers) -> None:
    kept = read_answers()
    assert kept.vllm == told.vllm, "make them again: python -m labkit.experiments.lessons.article_answers"
    assert [(a.id, a.status, a.said, a.read) for a in kept.answers] == [
        (a.id, a.status, a.said, a.read) for a in told.answers
    ]


def test_what_was_answered_is_not_asked_again(told: Answers) -> None:
    again = ask(all_questions(), STAND_INS, python=sys.executable, limit_s=0.001)
    assert again.answers == told.answers


def test_the_small_model_s_config_is_that_of_the_model(model_path: str) -> None:
    fetched = json.loads((Path(model_path) / "config.json").read_text(encoding="utf-8"))
    kept = model_configs()["smollm2-135m-instruct"]
    assert {name: fetched.get(name) for name in kept} == kept
