"""Where requests stop extending one another, by cause; and what a template makes of an honest history."""

from __future__ import annotations

import copy

import pytest

from labkit.core.chat import ChatRequest
from labkit.core.errors import BadInput, UnknownName
from labkit.doctor.prompt_diff import first_break
from labkit.doctor.prompt_prefix import pairs_of, prompt_checks
from labkit.doctor.template import of_template
from labkit.experiments.sent_requests import requests_of

TOOLS = [
    {"type": "function", "function": {"name": "read", "description": "Read a file.", "parameters": {"type": "object"}}},
    {"type": "function", "function": {"name": "run", "description": "Run it.", "parameters": {"type": "object"}}},
]
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py", "from": 1}'}}
TALK = [
    {"role": "system", "content": "You are careful. Today is 2026-01-02."},
    {"role": "user", "content": "Mend it."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "x = 1\n"},
    {"role": "assistant", "content": "Done."},
]
CHATML = (
    "{% if tools %}{{ tools | tojson }}{% endif %}"
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}{{ c.function.arguments }}{% endfor %}{% endfor %}"
)
FORGETS = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content if loop.last or m.role != 'assistant' else '' }}{% endfor %}"
)


def request(n: int, tools=TOOLS) -> ChatRequest:
    return ChatRequest(messages=copy.deepcopy(TALK[:n]), tools=copy.deepcopy(tools))


def test_a_history_that_is_only_appended_to_has_no_break():
    assert first_break(request(2), request(4)) is None
    assert first_break(request(2), request(2)) is None


def reordered(message):
    message["content"], message["role"] = message.pop("content"), message.pop("role")


CHANGES = [
    (
        lambda r: r.messages[0].update(content="You are careful. Today is 2026-01-03."),
        "message 1 (system)",
        "a time or date",
    ),
    (lambda r: r.messages[1].update(content="Mend it.\n"), "message 2 (user)", "white space alone"),
    (
        lambda r: r.messages[2]["tool_calls"][0]["function"].update(arguments='{"path":"a.py","from":1}'),
        "message 3 (assistant)",
        "parsed and written again",
    ),
    (
        lambda r: r.messages[2].update(tool_calls=[dict(reversed(CALL.items()))]),
        "message 3 (assistant)",
        "another order",
    ),
    (lambda r: r.messages[3].update(content="x = 2\n"), "message 4 (tool)", ""),
    (lambda r: r.tools.reverse(), "tools", "the same tools in another order"),
    (lambda r: r.tools[0]["function"].update(description="Read it."), "tools", ""),
    (lambda r: r.messages.__delitem__(slice(3, None)), "message 4 (tool)", "1 of 4 messages are gone"),
]


@pytest.mark.parametrize(("change", "where", "cause"), CHANGES)
def test_a_break_is_found_where_it_is_and_called_what_it_looks_like(change, where, cause):
    after = request(5)
    change(after)
    found = first_break(request(4), after)
    assert found is not None
    assert (found.where, cause in found.cause) == (where, True)
    assert bool(found.cause) == bool(cause)
    assert found.was != found.now


def test_the_check_says_the_first_turn_and_how_many():
    broken = request(5)
    broken.messages[0]["content"] = "You are careful. Today is 2026-01-03."
    sent, rendered = prompt_checks("mine", [request(2), request(4), broken], of_template(CHATML))
    assert (sent.status, rendered.status) == ("fail", "warn")
    assert (
        "mine: 1 of 2 do not extend the one before; first turn 3, at message 1 (system): a time or date" in sent.found
    )
    assert sent.todo
    assert "first turn 3, after " in rendered.found


def test_an_honest_history_is_fine_and_a_template_that_forgets_is_found():
    requests = [
        request(2, None),
        request(4, None),
        request(5, None),
        ChatRequest(messages=[*TALK, {"role": "user", "content": "?"}]),
    ]
    sent, rendered = prompt_checks("mine", requests, of_template(CHATML))
    assert (sent.status, rendered.status) == ("ok", "ok")
    sent, rendered = prompt_checks("mine", requests, of_template(FORGETS))
    assert (sent.status, rendered.status) == ("ok", "warn")
    assert "1 of 3 prompts leave the one before; first turn 4" in rendered.found


def test_one_request_and_no_template_cannot_be_judged():
    assert [check.status for check in prompt_checks("one", [request(2)], None)] == ["unknown", "unknown"]


def test_sessions_are_compared_within_themselves():
    one, other = (ChatRequest(messages=[{"role": "user", "content": name}], session=name) for name in "ab")
    assert [pair.turn for pair in pairs_of([one, other, one, other])] == [3, 4]
    assert prompt_checks("two", [one, other, one, other])[0].status == "ok"


def test_the_shipped_recordings_extend_themselves():
    assert prompt_checks("quoted-newlines", requests_of("quoted-newlines"))[0].status == "ok"


def test_bodies_of_any_agent_can_be_read(tmp_path):
    file = tmp_path / "sent.jsonl"
    file.write_text('{"messages": [{"role": "user", "content": "a"}], "model": "m"}\n\n{"messages": []}\n')
    assert [len(each.messages) for each in requests_of(str(file))] == [1, 0]
    file.write_text('{"messages": "a"}\n')
    with pytest.raises(BadInput, match=r"sent\.jsonl line 1"):
        requests_of(str(file))
    file.write_text("{\n")
    with pytest.raises(BadInput, match="line 1"):
        requests_of(str(file))
    with pytest.raises(UnknownName):
        requests_of("no-such-recording")


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ raise_exception('Roles must alternate') }}", "Roles must alternate"),
        ("{% for m in messages %}{{ m.content + 1 }}{% endfor %}", "concatenate"),
        ("{% for m in messages %}", "endfor"),
        ("{{ nobody.knows }}", "nobody"),
    ],
)
def test_a_template_that_refuses_is_told_in_its_words(template: str, words: str):
    sent, rendered = prompt_checks("mine", [request(2), request(4)], of_template(template))
    assert (sent.status, rendered.status) == ("ok", "unknown")
    assert words in rendered.found


def test_a_template_may_ask_for_the_date():
    assert of_template("{{ strftime_now('%Y') }}")(request(2)).isdigit()
