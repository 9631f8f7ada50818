"""The recording format: what is written is read, what is wrong is named, and requests are rebuilt exactly."""

import hashlib
import json
from pathlib import Path

import pytest

import labkit
from labkit.agents.scripted import load_script
from labkit.agents.tasks import list_tasks, load_task
from labkit.core.chat import ChatRequest, Usage
from labkit.core.errors import BadInput, UnknownName
from labkit.core.records import KINDS
from labkit.traffic.recording import (
    SCHEMA,
    RecordedStep,
    Recording,
    RecordingHeader,
    list_recordings,
    load,
    named,
    request_options,
    save,
    shipped,
)

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


@pytest.fixture
def recording() -> Recording:
    """Three steps: a plan, a call, what came of it. The text holds what breaks careless files."""
    odd = "line\u2028separator \x85 and a lone surrogate \ud800"
    steps = (
        RecordedStep(
            turn=1,
            kind="plan",
            append=[{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
            reply={"role": "assistant", "content": odd},
            request={"max_tokens": 9, "tool_choice": "none"},
            usage=Usage(prompt_tokens=10, completion_tokens=3),
        ),
        RecordedStep(
            turn=2,
            kind="act",
            append=[{"role": "user", "content": "Act."}],
            reply={"role": "assistant", "content": None, "tool_calls": [CALL]},
            request={"extra": {"structured_outputs": {"grammar": "g"}}, "temperature": 0.0},
            finish_reason="tool_calls",
            tool_name="look",
            tool_s=0.25,
            tool_bytes=4,
            gap_s=0.5,
        ),
        RecordedStep(
            turn=3,
            kind="answer",
            append=[{"role": "tool", "tool_call_id": "c1", "content": "seen"}, {"role": "user", "content": "Answer."}],
            reply={"role": "assistant", "content": "done"},
            gap_s=0.75,
        ),
    )
    header = RecordingHeader(name="r", task="t", decided_by="scripted", model="m", tools=TOOLS, reached=True)
    return Recording(header=header, steps=steps)


def test_what_is_written_is_read(recording: Recording, tmp_path: Path):
    path = save(recording, tmp_path / "new" / "r.jsonl")
    assert load(path) == recording
    assert named(str(path)) == recording
    assert len(path.read_text().split("\n")) == 5


def test_a_request_is_everything_before_it_in_order(recording: Recording):
    first, second, third = (recording.request(n) for n in range(3))
    assert [m["role"] for m in third.messages] == ["system", "user", "assistant", "user", "assistant", "tool", "user"]
    assert second.messages[: len(first.messages)] == first.messages
    assert third.messages[: len(second.messages)] == second.messages
    assert third.messages[4]["tool_calls"] == [CALL]
    assert (first.max_tokens, first.tool_choice, first.tools) == (9, "none", TOOLS)
    assert second.extra == {"structured_outputs": {"grammar": "g"}}


def test_live_history_puts_other_replies_in(recording: Recording):
    said = [{"role": "assistant", "content": f"other {n}"} for n in range(2)]
    messages = recording.request(2, said).messages
    assert [m["content"] for m in messages if m["role"] == "assistant"] == ["other 0", "other 1"]


def test_unknown_request_fields_of_a_newer_labkit_are_left_out(recording: Recording, tmp_path: Path):
    path = save(recording, tmp_path / "r.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1]["request"]["from_the_future"] = 1
    lines[0]["also_new"] = 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert load(path).request(0) == recording.request(0)


def test_request_options_keep_neither_messages_nor_tools_nor_salt():
    request = ChatRequest(messages=[], tools=TOOLS, cache_salt="x", seed=3, extra={"a": 1})
    kept = request_options(request)
    assert {"messages", "tools", "cache_salt"}.isdisjoint(kept)
    assert (kept["seed"], kept["extra"]) == (3, {"a": 1})


def _edited(recording: Recording, path: Path, line: int, **values: object) -> Path:
    lines = [json.loads(text) for text in save(recording, path).read_text().splitlines()]
    lines[line].update(values)
    path.write_text("".join(json.dumps(row) + "\n" for row in lines))
    return path


@pytest.mark.parametrize(
    ("line", "values", "named_as"),
    [
        (0, {"type": "run"}, "line 1"),
        (0, {"schema": SCHEMA + 1}, "schema"),
        (2, {"turn": 5}, "line 3 turn"),
        (2, {"kind": "think"}, "line 3 kind"),
        (3, {"append": []}, "line 4 append"),
    ],
)
def test_what_is_wrong_is_named(recording: Recording, tmp_path: Path, line: int, values: dict, named_as: str):
    path = _edited(recording, tmp_path / "r.jsonl", line, **values)
    with pytest.raises(BadInput) as error:
        load(path)
    assert named_as in error.value.field


@pytest.mark.parametrize("text", ["", "\n", "not json\n", "[1]\n", '{"type": "recording", "schema": 1}\n'])
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, text: str):
    (tmp_path / "r.jsonl").write_text(text)
    with pytest.raises(BadInput, match=r"r\.jsonl"):
        load(tmp_path / "r.jsonl")


def test_a_recording_without_steps_is_refused(recording: Recording, tmp_path: Path):
    path = save(recording, tmp_path / "r.jsonl")
    path.write_text(path.read_text().split("\n")[0] + "\n")
    with pytest.raises(BadInput, match="at least one step"):
        load(path)


def test_a_torn_line_is_named(recording: Recording, tmp_path: Path):
    path = save(recording, tmp_path / "r.jsonl")
    path.write_text(path.read_text()[:-20])
    with pytest.raises(BadInput, match="line 4"):
        load(path)


def test_names_and_files_that_do_not_exist(tmp_path: Path):
    with pytest.raises(UnknownName, match="evict-one-late"):
        named("evict-one-lat")
    (tmp_path / "x.log").write_text("")
    with pytest.raises(BadInput, match=r"\.jsonl file") as other:
        named(str(tmp_path / "x.log"))
    assert not isinstance(other.value, UnknownName)
    for gone in (tmp_path / "gone.jsonl", "mine/evict-one-late"):
        with pytest.raises(BadInput, match="a file that is there") as missing:
            named(str(gone))
        assert not isinstance(missing.value, UnknownName)
    with pytest.raises(BadInput, match="a file"):
        load(tmp_path / "none.jsonl")


def test_enough_recordings_are_shipped():
    decided = {named(name).header.decided_by for name in list_recordings()}
    assert len(list_recordings()) >= 3
    assert "scripted" in decided
    assert len(decided) > 1, "none was decided by a model"


def test_one_shipped_recording_is_long_enough_for_the_step_count_experiment():
    assert max(len(named(name).steps) for name in list_recordings()) >= 30


@pytest.mark.parametrize("name", list_recordings())
def test_a_shipped_recording_is_an_agent_at_work(name: str):
    recording = named(name)
    assert recording.header.name == name
    assert recording.header.task in list_tasks()
    assert recording.header.reached is (recording.header.decided_by == "scripted")
    assert 15 <= len(recording.steps) <= 40
    assert {step.kind for step in recording.steps} == set(KINDS)
    assert shipped()[name].stat().st_size < 200_000


@pytest.mark.parametrize("name", list_recordings())
def test_a_shipped_recording_grows_and_fits_the_context(name: str):
    steps = named(name).steps
    prompts = [step.usage.prompt_tokens for step in steps]
    assert None not in prompts
    assert prompts == sorted(prompts)
    assert 600 <= prompts[0] <= 900
    assert 4000 <= prompts[-1] <= 7000
    for step in steps:
        assert step.usage.prompt_tokens + step.request["max_tokens"] <= 8192
        assert 0 < step.usage.completion_tokens <= step.request["max_tokens"]


@pytest.mark.parametrize("name", list_recordings())
def test_a_shipped_recording_names_no_machine(name: str):
    text = shipped()[name].read_text()
    assert "/tmp/" not in text
    assert "/root" not in text
    assert "/home" not in text


@pytest.mark.parametrize("name", [n for n in list_recordings() if named(n).header.decided_by == "scripted"])
def test_a_scripted_recording_is_the_script_as_it_is_now(name: str):
    """A task that was changed must be recorded again."""
    recording = named(name)
    script = load_script(load_task(recording.header.task).folder / "script.toml")
    calls = [call["function"] for step in recording.steps for call in step.reply.get("tool_calls") or []]
    assert [(c["name"], json.loads(c["arguments"])) for c in calls] == [(a.tool, a.arguments) for a in script.acts]


@pytest.mark.parametrize("name", list_recordings())
def test_a_shipped_recording_was_counted_with_the_template_of_today(name: str):
    template = (Path(labkit.__file__).parent / "engines/weights/chat_template.jinja").read_bytes()
    assert named(name).header.template_sha256 == hashlib.sha256(template).hexdigest()
