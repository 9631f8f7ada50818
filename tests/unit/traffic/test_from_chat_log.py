"""A chat log becomes a recording whose requests are those that were logged, or is refused by line and field."""

import copy
import json
from pathlib import Path

import pytest
from chat_logs import CALL, TALK, TOOLS, lines, written

from labkit.core.errors import BadInput
from labkit.engines.fake import FakeDials, FakeEngine
from labkit.experiments.asked import Asked
from labkit.experiments.runner import run_replay
from labkit.experiments.sent_requests import requests_of
from labkit.experiments.serving import StaticProvider
from labkit.store.runs import RunStore
from labkit.traffic.from_chat_log import from_chat_log
from labkit.traffic.recording import load, save
from labkit.traffic.shaping import check_pinnable

USAGE = {
    "prompt_tokens": 50,
    "completion_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 32},
    "completion_tokens_details": {"reasoning_tokens": 3},
}


def test_the_requests_are_those_that_were_logged(tmp_path: Path):
    recording = from_chat_log(written(tmp_path, lines(temperature=0.5, seed=3)))
    assert [recording.request(n).messages for n in range(3)] == [TALK[:2], TALK[:4], TALK[:6]]
    assert recording.request(2).tools == TOOLS
    assert (recording.request(2).temperature, recording.request(2).seed) == (0.5, 3)
    assert [step.append for step in recording.steps] == [TALK[:2], TALK[3:4], TALK[5:6]]


def test_calls_and_results_are_kept_and_give_a_step_its_kind(tmp_path: Path):
    steps = from_chat_log(written(tmp_path, lines())).steps
    assert [step.kind for step in steps] == ["act", "observe", "answer"]
    assert steps[0].reply["tool_calls"] == [CALL]
    assert [step.tool_name for step in steps] == ["track", None, None]
    assert [step.tool_bytes for step in steps] == [len("Zürich".encode()), None, None]
    assert [step.tool_s for step in steps] == [None, None, None]


def test_a_first_reply_in_words_is_the_plan(tmp_path: Path):
    log = lines()[1:]
    assert [step.kind for step in from_chat_log(written(tmp_path, log)).steps] == ["plan", "answer"]


def test_what_a_log_does_not_say_is_not_made_up(tmp_path: Path):
    recording = from_chat_log(written(tmp_path, lines()))
    assert recording.header.reached is None
    assert recording.header.counted_by is None
    assert {step.usage.prompt_tokens for step in recording.steps} == {None}
    assert {step.gap_s for step in recording.steps} == {0.0}
    assert "no times" in recording.header.note
    with pytest.raises(BadInput, match="natural"):
        check_pinnable(recording, 3)


def test_usage_is_read_and_says_who_counted(tmp_path: Path):
    log = lines()
    for line in log:
        line["response"]["usage"] = USAGE
    recording = from_chat_log(written(tmp_path, log))
    usage = recording.steps[1].usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.reasoning_tokens) == (50, 7, 32, 3)
    assert recording.header.counted_by == "some-model"
    assert recording.request(1).max_tokens == 7  # no limit was logged, so the reply's own length is
    check_pinnable(recording, 3)


@pytest.mark.parametrize(
    ("times", "gap"),
    [
        ((10.0, 12.5, 14.0, 15.0), 1.5),
        (("2026-11-30T10:00:00Z", "2026-11-30T10:00:02Z", "2026-11-30T10:00:05+00:00", "2026-11-30T10:00:06Z"), 3.0),
    ],
)
def test_times_become_gaps(tmp_path: Path, times: tuple, gap: float):
    log = lines()[:2]
    for line, sent, end in zip(log, times[::2], times[1::2], strict=True):
        line |= {"t_send": sent, "t_end": end}
    recording = from_chat_log(written(tmp_path, log))
    assert [step.gap_s for step in recording.steps] == [0.0, pytest.approx(gap)]
    assert "no times" not in recording.header.note


def test_limits_and_sampling_reach_the_engine_and_the_rest_is_named(tmp_path: Path):
    more = {
        "max_completion_tokens": 9,
        "top_p": 0.9,
        "metadata": {"a": "b"},
        "stream": True,
        "extra_body": {"top_k": 5},
    }
    recording = from_chat_log(written(tmp_path, lines(**more)))
    request = recording.request(0)
    assert request.max_tokens == 9
    assert request.extra == {"top_p": 0.9, "top_k": 5}
    assert recording.header.note.endswith("Left out of the requests: metadata.")


def test_a_reply_is_what_was_sent_back_however_it_was_written_anew(tmp_path: Path):
    """Nulls, white space, spaced arguments and reasoning: each framework has its own way to keep history."""
    log = lines()
    message = log[0]["response"]["choices"][0]["message"]
    message |= {"refusal": None, "annotations": [], "reasoning_content": "Hm.", "content": ""}
    message["tool_calls"] = [{**CALL, "function": {"name": "track", "arguments": '{"number":"K-1"}'}}]
    log[1]["response"]["choices"][0]["message"]["content"] = "It is in Zürich.\n"
    recording = from_chat_log(written(tmp_path, log))
    assert [step.reply for step in recording.steps[:2]] == [TALK[2], TALK[4]]
    assert recording.request(2).messages == TALK[:6]


def test_the_last_reply_is_the_responses_own_without_what_says_nothing(tmp_path: Path):
    log = lines()
    log[-1]["response"]["choices"][0]["message"] |= {"refusal": None, "audio": None, "reasoning_content": "Hm."}
    reply = from_chat_log(written(tmp_path, log)).steps[-1].reply
    assert reply == {"role": "assistant", "content": "Goodbye.", "reasoning_content": "Hm."}


def test_it_is_saved_and_read_like_any_other(tmp_path: Path):
    recording = from_chat_log(written(tmp_path, lines()), name="mine")
    assert load(save(recording, tmp_path / "mine.jsonl")) == recording
    assert (recording.header.name, recording.header.decided_by) == ("mine", "some-model")


async def test_an_engine_is_sent_the_logged_requests(tmp_path: Path):
    path = save(from_chat_log(written(tmp_path, lines(max_tokens=5)), name="mine"), tmp_path / "mine.jsonl")
    async with FakeEngine(FakeDials(model="fake", block_size=16)) as engine:
        provider = StaticProvider({"base": engine.base_url, "prefix": engine.base_url}, "fake", 16)
        asked = Asked(profile="cpu-smollm2", recording=str(path), arms=("base", "prefix"))
        run = await run_replay("replay", asked, provider, store=RunStore(tmp_path / "runs"))
    rows = run.steps()
    rows = rows[~rows["warmup"]]
    assert run.info.state == "done"
    prompts = {arm: list(of["prompt_tokens"]) for arm, of in rows.groupby("arm")}
    assert prompts["base"] == prompts["prefix"] == sorted(prompts["base"])
    assert len(prompts["base"]) == 3
    assert rows["error"].isna().all()


def test_one_agent_of_a_log_of_several_is_chosen(tmp_path: Path):
    one, other = lines(), lines(temperature=0.9)
    log = [
        {**line, "session": name}
        for pair in zip(one, other, strict=True)
        for line, name in zip(pair, "ab", strict=True)
    ]
    path = written(tmp_path, log)
    assert {step.request["temperature"] for step in from_chat_log(path, session="b").steps} == {0.9}
    assert "temperature" not in from_chat_log(path, session="a").steps[0].request
    for wrong in (None, "c"):
        with pytest.raises(BadInput, match=r"chat\.jsonl session.*a, b"):
            from_chat_log(path, session=wrong)
    with pytest.raises(BadInput, match="no line has a session"):
        from_chat_log(written(tmp_path, one), session="a")


def changed(at: int, *keys: str | int, to: object) -> list[dict]:
    """The log with one value of line `at` (from 0) replaced; `...` removes it."""
    log = lines()
    place = log[at]
    for key in keys[:-1]:
        place = place[key]
    if to is ...:
        del place[keys[-1]]
    else:
        place[keys[-1]] = copy.deepcopy(to)
    return log


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (changed(1, "request", to=...), r"line 2 request: nothing"),
        (changed(1, "response", to=[]), r"line 2 response"),
        (changed(0, "request", "messages", to=[]), r"line 1 request\.messages"),
        (changed(0, "request", "messages", 1, to={"content": "x"}), r"line 1 request\.messages\[1\].*a role"),
        (changed(2, "response", "choices", to=[]), r"line 3 response\.choices"),
        (changed(2, "response", "choices", 0, "message", to=...), r"line 3 response\.choices\[0\]\.message"),
        (changed(1, "request", "messages", 0, "content", to="It is 9:41."), r"line 2 request\.messages\[0\].*line 1"),
        (changed(1, "request", "messages", to=TALK[1:4]), r"line 2 request\.messages\[0\]"),
        (changed(1, "request", "messages", 2, to={"role": "user", "content": "?"}), r"messages\[2\].*reply of line 1"),
        (changed(2, "request", "messages", 4, "content", to="In Bern."), r"line 3 request\.messages\[4\].*line 2"),
        (changed(1, "request", "messages", to=TALK[:2]), r"line 2 request\.messages\[2\].*reply of line 1"),
        (changed(1, "request", "messages", to=TALK[:3]), r"line 2 request\.messages.*at least one more"),
        (changed(2, "request", "tools", to=[]), r"line 3 request\.tools.*line 1"),
        (changed(1, "t_send", to="noon"), r"line 2 t_send.*ISO 8601"),
    ],
)
def test_what_is_wrong_is_named_by_line_and_field(tmp_path: Path, log: list[dict], said: str):
    with pytest.raises(BadInput, match=said):
        from_chat_log(written(tmp_path, log))


def test_requests_that_overlap_are_no_single_agent(tmp_path: Path):
    log = [{**line, "t_send": n, "t_end": n + 2.0} for n, line in enumerate(lines())]
    with pytest.raises(BadInput, match=r"line 2 t_send: 1 .*t_end of line 1, 2\.0") as error:
        from_chat_log(written(tmp_path, log))
    assert "session" in error.value.hint


def test_what_is_no_log_at_all(tmp_path: Path):
    with pytest.raises(BadInput, match="a file that exists, of JSON lines"):
        from_chat_log(tmp_path / "gone.jsonl")
    for text, said in (("", "at least one line"), ("{", "line 1"), ("\n[]\n", "line 2"), ("7", "line 1")):
        (tmp_path / "x.jsonl").write_text(text)
        with pytest.raises(BadInput, match=rf"x\.jsonl.*{said}|{said}"):
            from_chat_log(tmp_path / "x.jsonl")


def test_blank_lines_do_not_shift_the_number_of_a_line(tmp_path: Path):
    first, second, _ = (json.dumps(line) for line in changed(1, "request", "messages", to=TALK[:3]))
    (tmp_path / "x.jsonl").write_text(f"\n{first}\n\n{second}\n")
    with pytest.raises(BadInput, match=r"x\.jsonl line 4 .*line 2"):
        from_chat_log(tmp_path / "x.jsonl")


def test_the_doctor_reads_the_same_log(tmp_path: Path):
    log = [{**line, "session": "a"} for line in lines()]
    requests = requests_of(str(written(tmp_path, log)))
    assert [request.messages for request in requests] == [TALK[:2], TALK[:4], TALK[:6]]
    assert {request.session for request in requests} == {"a"}
