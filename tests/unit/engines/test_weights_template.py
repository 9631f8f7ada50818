"""The chat template decides what the prefix cache can reuse, so its two properties are held over random talk."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.sandbox import ImmutableSandboxedEnvironment

from labkit.engines.weights.registry import DEFAULT, MODELS

TOOL = {
    "type": "function",
    "function": {"name": "read_file", "description": "Read <a> file", "parameters": {"type": "object"}},
}


def _tojson(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _template() -> Any:
    """As transformers and vLLM set up Jinja for chat templates."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = _tojson
    return environment.from_string(MODELS[DEFAULT].template_text())


TEMPLATE = _template()


def _render(messages: list[dict[str, Any]], tools: list[Any] | None = None, *, prompt: bool = False) -> str:
    return str(TEMPLATE.render(messages=messages, tools=tools, add_generation_prompt=prompt))


def _generated(content: str, calls: list[tuple[str, Any]]) -> str:
    """The text that the engine produces under the Hermes grammar."""
    blocks = [f'<tool_call>\n{{"name": "{name}", "arguments": {_tojson(args)}}}\n</tool_call>' for name, args in calls]
    return content + "\n".join(blocks)


text = st.text(max_size=20)
parts = st.lists(text, min_size=1, max_size=3).map(lambda ts: [{"type": "text", "text": t} for t in ts])
arguments = st.dictionaries(
    text, st.none() | st.booleans() | st.integers() | text | st.lists(text, max_size=2), max_size=3
)
names = st.from_regex(r"[a-z_]{1,12}", fullmatch=True)
calls = st.lists(st.tuples(names, arguments), max_size=2)


def _assistant(content: str | None, made: list[tuple[str, Any]], as_text: bool) -> dict[str, Any]:
    functions = [{"name": n, "arguments": _tojson(a) if as_text else a} for n, a in made]
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if functions:
        message["tool_calls"] = [{"id": "x", "type": "function", "function": f} for f in functions]
    return message


assistant = st.builds(_assistant, st.none() | text, calls, st.booleans())
user = st.builds(lambda content: {"role": "user", "content": content}, text | parts)
tool = st.builds(lambda content: {"role": "tool", "tool_call_id": "x", "content": content}, st.none() | text | parts)
system = st.builds(lambda content: {"role": "system", "content": content}, text | parts)
conversation = st.builds(
    lambda first, rest: [*first, *rest],
    st.lists(system, max_size=1),
    st.lists(user | assistant | tool | system, min_size=1, max_size=6),
)
tools = st.sampled_from([None, [], [TOOL], [TOOL, TOOL["function"]]])


@given(conversation, tools)
def test_a_longer_conversation_begins_with_the_shorter_one(messages: list[dict[str, Any]], offered: Any):
    for n in range(1, len(messages)):
        longer = _render(messages[: n + 1], offered)
        assert longer.startswith(_render(messages[:n], offered))
        if messages[n]["role"] == "assistant":
            assert longer.startswith(_render(messages[:n], offered, prompt=True))


@given(conversation, tools, st.none() | text, calls, st.booleans())
def test_what_was_generated_comes_back_letter_by_letter(
    messages: list[dict[str, Any]], offered: Any, content: str | None, made: list[tuple[str, Any]], as_text: bool
):
    prompt = _render(messages, offered, prompt=True)
    after = _render([*messages, _assistant(content, made, as_text)], offered)
    assert after == prompt + _generated(content or "", made) + "<|im_end|>\n"


def test_the_whole_of_a_short_conversation():
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "text", "text": "here"}]},
        _assistant(None, [("read_file", {"path": "ä.txt"})], as_text=False),
        {"role": "tool", "tool_call_id": "x", "content": "1\n2"},
    ]
    assert _render(messages, prompt=True) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        "<|im_start|>user\nLook\nhere<|im_end|>\n"
        '<|im_start|>assistant\n<tool_call>\n{"name": "read_file", "arguments": {"path": "ä.txt"}}\n</tool_call>'
        "<|im_end|>\n"
        "<|im_start|>user\n<tool_response>\n1\n2\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_without_a_system_message_the_models_own_is_used():
    assert _render([{"role": "user", "content": "hi"}]).startswith(
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nhi<|im_end|>\n"
    )


@pytest.mark.parametrize("offered", [TOOL, TOOL["function"]])
def test_tools_are_shown_as_they_were_given(offered: dict[str, Any]):
    shown = _render([{"role": "user", "content": "hi"}], [offered])
    assert f"<tools>\n{_tojson(TOOL['function'])}\n</tools>\n" in shown
    assert shown.index("</tools>") < shown.index("<|im_end|>")
