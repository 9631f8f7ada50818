"""Questions to an engine in a process of its own: what was said, what was not, and why, without vLLM."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import stub_vllm

from labkit.core.errors import BadInput, EngineError, UnknownName
from labkit.engines.accepts import Answer, Answers, Question, ask

CONNECTOR = {"kv_connector": "M", "kv_role": "kv_producer", "kv_connector_extra_config": {"http_port": "1"}}


def python_line(name: str, code: str, *read: str) -> Question:
    return Question(id=name, kind="python", text=code, given={"code": code, "read": list(read)})


def arguments(name: str, *read: str, **given: Any) -> Question:
    return Question(
        id=name, kind="arguments", text="", given={"arguments": {"model": "some/model", **given}, "read": list(read)}
    )


def flags(name: str, *argv: str, read: tuple[str, ...] = (), files: dict[str, str] | None = None) -> Question:
    given = {"argv": ["serve", "some/model", *argv], "read": list(read), "files": files or {}}
    return Question(id=name, kind="flags", text=" ".join(argv), given=given)


def keys(name: str, **given: Any) -> Question:
    arguments = {"model": "some/model", "kv_transfer_config": CONNECTOR}
    return Question(id=name, kind="keys", text="", given={"arguments": arguments, "keys": given})


@pytest.fixture
def stub(tmp_path: Path) -> str:
    return stub_vllm.install(tmp_path)


def one(question: Question, python: str) -> Answer:
    return ask([question], stub_vllm.MODELS, python=python).of(question.id)


def test_lines_of_python_are_run(stub: str) -> None:
    assert one(python_line("a", "from vllm.connections import global_http_connection as n", "n + 1"), stub) == Answer(
        id="a", status="accepted", read={"n + 1": 2}
    )
    refused = one(python_line("b", "from vllm.connections import global_force_connection"), stub)
    assert refused.status == "refused"
    name = "cannot import name 'global_force_connection' from 'vllm.connections'"
    assert refused.said == f"ImportError: {name} (vllm/connections.py)"


def test_keywords_reach_the_config_classes(stub: str) -> None:
    read = arguments("a", "scheduler_config.max_num_seqs", "cache_config.layers", max_num_seqs=4)
    assert one(read, stub).read == {"max_num_seqs": 4, "layers": 3}
    assert "unexpected keyword argument 'speculative_model'" in one(arguments("b", speculative_model="x"), stub).said


def test_a_refusal_names_the_model_and_no_folder_of_ours(stub: str) -> None:
    refused = one(arguments("a", max_num_seqs=0), stub)
    assert refused.said == "ValueError: max_num_seqs of some/model must be at least 1"


def test_flags_and_files_go_to_the_parser(stub: str) -> None:
    assert one(flags("a", "--max-num-seqs", "4", read=("max_num_seqs", "model_tag")), stub).read == {
        "max_num_seqs": 4, "model_tag": "some/model",
    }  # fmt: skip
    refused = one(flags("b", "--mori-io", "{}"), stub)
    assert (refused.status, refused.said) == ("refused", "unrecognized arguments: --mori-io {}")
    file = one(flags("c", "--config", "c.yaml", read=("config",), files={"c.yaml": "a: 1"}), stub)
    assert file.read == {"config": "c.yaml"}


def test_a_key_that_changes_nothing_is_ignored_and_a_warning_is_heard(stub: str) -> None:
    changes = one(keys("a", transfer_timeout=5), stub)
    assert (changes.status, changes.read) == ("accepted", {"transfer_timeout": [30.0, 5.0]})
    silent, warned = one(keys("b", retry_count=3), stub), one(keys("c", old_key=3), stub)
    assert (silent.status, silent.read, silent.warned) == ("ignored", {}, ())
    assert (warned.status, warned.warned) == ("ignored", ("old_key is ignored",))
    assert silent.compared == changes.compared > 4


def test_a_connector_that_fails_without_the_key_says_nothing_of_it(stub: str) -> None:
    bare = {**CONNECTOR, "kv_connector_extra_config": {}}
    given = {"arguments": {"model": "some/model", "kv_transfer_config": bare}, "keys": {"retry_count": 3}}
    told = one(Question(id="a", kind="keys", text="", given=given), stub)
    assert (told.status, told.said) == ("no answer", "without the key it fails, too: KeyError: 'http_port'")


def test_where_even_a_plain_engine_fails_its_check_no_refusal_counts(stub: str, tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    told = ask([arguments("a"), keys("b", x=1), flags("c"), arguments("d", nonsense=1)], stub_vllm.MODELS, python=stub)
    assert [answer.status for answer in told.answers] == ["no answer", "no answer", "accepted", "refused"]
    assert "RuntimeError: no device" in told.of("a").said


def test_one_process_for_all_questions_and_none_for_what_is_known(stub: str, tmp_path: Path) -> None:
    first = ask([flags("a"), flags("b", "--nope")], stub_vllm.MODELS, python=stub)
    assert stub_vllm.imports(tmp_path) == 1
    again = ask([flags("other name", "--nope"), flags("a")], stub_vllm.MODELS, python=stub)
    assert stub_vllm.imports(tmp_path) == 1
    assert again.vllm == first.vllm == "9.9"
    assert again.of("other name").said == first.of("b").said
    ask([flags("new", "--max-num-seqs", "2")], stub_vllm.MODELS, python=stub)
    assert stub_vllm.imports(tmp_path) == 2
    ask([flags("a")], {"some/model": {"layers": 4}}, python=stub)
    assert stub_vllm.imports(tmp_path) == 3, "another model is another question"


def test_without_vllm_nothing_can_be_asked_and_nothing_is_raised(tmp_path: Path) -> None:
    told = ask([flags("a")], stub_vllm.MODELS, python=stub_vllm.without(tmp_path))
    assert (told.vllm, told.of("a").status, told.of("a").said) == (None, "not installed", "vLLM is not installed here")
    assert ask([flags("a")], stub_vllm.MODELS, python=None).of("a").status == "not installed"


def test_a_broken_installation_is_told_as_such(stub: str, tmp_path: Path) -> None:
    (tmp_path / "vllm" / "__init__.py").write_text("import nothing_like_it")
    told = ask([flags("a")], stub_vllm.MODELS, python=stub)
    assert told.vllm is None
    assert told.of("a").status == "no answer"
    assert "cannot be imported: ModuleNotFoundError: No module named 'nothing_like_it'" in told.of("a").said


def test_what_was_answered_before_a_crash_is_kept(stub: str) -> None:
    questions = [flags("a"), python_line("b", "import os; os._exit(7)"), flags("c")]
    told = ask(questions, stub_vllm.MODELS, python=stub)
    assert [answer.status for answer in told.answers] == ["accepted", "no answer", "no answer"]
    assert told.of("c").said.startswith("the process ended with exit code 7")
    after = ask([flags("c")], stub_vllm.MODELS, python=stub)
    assert after.of("c").status == "accepted", "no answer is not kept as one"


def test_a_process_that_hangs_is_ended_at_the_limit(stub: str) -> None:
    began = time.monotonic()
    questions = [flags("a"), python_line("b", "import time; time.sleep(60)")]
    told = ask(questions, stub_vllm.MODELS, python=stub, limit_s=3)
    assert time.monotonic() - began < 20
    assert told.of("a").status == "accepted"
    assert (told.of("b").status, told.of("b").said) == ("no answer", "no answer within 3 s")


def test_a_program_that_is_no_python_gives_no_answer(tmp_path: Path) -> None:
    told = ask(
        [flags("a")], stub_vllm.MODELS, python=stub_vllm.script(tmp_path, "echo cannot open display >&2; exit 3")
    )
    assert told.of("a").said == "the process ended with exit code 3: cannot open display"


def test_an_interpreter_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="cannot be started"):
        ask([flags("a")], python=str(tmp_path / "no-python"))


def test_questions_that_cannot_be_told_apart_or_put_are_refused() -> None:
    with pytest.raises(BadInput, match="an id that no other question has"):
        ask([flags("a"), flags("a", "--x")], python=sys.executable)
    with pytest.raises(BadInput, match="kind of a"):
        ask([Question(id="a", kind="poem", text="", given={})], python=sys.executable)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="more than 0"):
        ask([flags("a")], python=sys.executable, limit_s=0)


def test_answers_survive_json_and_are_found_by_name() -> None:
    answer = Answer(id="a", status="ignored", compared=4, warned=("w",), read={"x": [1, 2]})
    told = Answers(vllm="1", python=None, asked_on="2026-01-01", seconds=1.5, answers=(answer,))
    assert Answers.from_dict(json.loads(json.dumps(told.to_dict()))) == told
    with pytest.raises(UnknownName, match="did you mean a"):
        told.of("aa")
