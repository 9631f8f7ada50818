"""The grammar against the library that enforces it: what it lets through is one well-formed, bounded call."""

import json

import pytest

from labkit.agents.grammar import grammar
from labkit.agents.offers import EVERYTHING, Call, offers
from labkit.agents.requests import RequestBuilder
from labkit.agents.scripted import load_script
from labkit.agents.tasks import list_tasks, load_task

xgrammar = pytest.importorskip("xgrammar", reason="comes with the engine: make setup")


@pytest.fixture(scope="module")
def accepts():
    from xgrammar.testing import _is_grammar_accept_string

    def ask(text: str, ebnf: str | None = None) -> bool:
        return _is_grammar_accept_string(xgrammar.Grammar.from_ebnf(ebnf or grammar()), text)

    return ask


def said(name: str, arguments: dict[str, str]) -> str:
    """A call as the chat template writes it."""
    return f'<tool_call>\n{{"name": "{name}", "arguments": {json.dumps(arguments)}}}\n</tool_call>'


def test_every_call_of_every_script_could_have_been_generated(accepts):
    for name in list_tasks():
        for act in load_script(load_task(name).folder / "script.toml").acts:
            assert accepts(said(act.tool, act.arguments)), f"{name}: {act}"


@pytest.mark.parametrize(
    "text",
    [
        "I will list the files.",
        said("list_files", {}) + "\n" + said("list_files", {}),
        said("list_files", {}).removesuffix("</tool_call>"),
        said("list_files", {"path": "x"}),
        said("rm", {}),
        said("read_file", {}),
        said("read_file", {"path": ""}),
        said("read_file", {"path": "x" * 61}),
        said("read_file", {"path": "with blank.py"}),
        said("search_code", {"query": "q" * 41}),
        said("edit_file", {"path": "a.py", "old": "", "new": "x"}),
        said("edit_file", {"path": "a.py", "old": "x" * 201, "new": "x"}),
        said("finish", {"summary": "naïve"}),
        '<tool_call>\n{"name": "search_code", "arguments": {"query": "a"b"}}\n</tool_call>',
    ],
)
def test_nothing_else_gets_through(accepts, text: str):
    assert not accepts(text)


def test_an_edit_may_delete_and_may_hold_quotes_and_line_breaks(accepts):
    assert accepts(said("edit_file", {"path": "a.py", "old": 'x = "\\n"\n\tpass', "new": ""}))


def test_only_what_is_offered_gets_through(accepts):
    ebnf = grammar(offers([Call("list_files", None, True), Call("read_file", "a.py", True)], ["a.py", "b.py"]))
    assert accepts(said("read_file", {"path": "b.py"}), ebnf)
    assert not accepts(said("read_file", {"path": "a.py"}), ebnf)
    assert not accepts(said("list_files", {}), ebnf)
    assert accepts(said("edit_file", {"path": "a.py", "old": "x", "new": "y"}), ebnf)


def test_the_prompt_is_the_same_whatever_is_offered():
    messages = [{"role": "user", "content": "Act: call one tool."}]
    some = RequestBuilder().build("act", messages, EVERYTHING[:2])
    every = RequestBuilder().build("act", messages)
    assert (some.messages, some.tools) == (every.messages, every.tools)
    assert some.extra != every.extra


def test_the_other_mode_asks_the_engine_to_require_a_call():
    request = RequestBuilder(tool_mode="required").build("act", [{"role": "user", "content": "x"}])
    assert request.tool_choice == "required"
    assert not request.extra
    assert request.tools is not None
    assert all(tool["function"]["strict"] for tool in request.tools)


def test_text_steps_keep_the_tools_in_the_prompt_but_forbid_calls():
    act, plan = (RequestBuilder().build(kind, [{"role": "user", "content": "x"}]) for kind in ("act", "plan"))
    assert plan.tools == act.tools
    assert plan.tool_choice == "none"
    assert plan.max_tokens < act.max_tokens
