"""What counts as a token's arrival, and that the message comes out exactly as it went in."""

from typing import Any

import pytest

from labkit.core.chat import Reply
from labkit.engines.assemble import Assembler


def assemble(*deltas: dict[str, Any], finish: str = "stop") -> Reply:
    """Deltas that arrive at 1.0, 2.0... after a send at 0."""
    parts = Assembler()
    for t, delta in enumerate(deltas, start=1):
        parts.add({"choices": [{"index": 0, "delta": delta}]}, float(t))
    parts.add({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}, 90.0)
    return parts.reply(0.0, 99.0)


def call(index: int, **function: str) -> dict[str, Any]:
    return {"content": None, "tool_calls": [{"index": index, "function": function}]}


def test_the_role_is_no_token_and_neither_is_the_finish() -> None:
    reply = assemble({"role": "assistant", "content": ""}, {"content": "a"}, {"content": "bc"})
    assert (reply.t_first_token, reply.t_last, reply.t_end) == (2.0, 3.0, 99.0)
    assert [chunk.chars for chunk in reply.chunks] == [1, 2]


def test_reasoning_is_a_token_but_not_visible() -> None:
    reply = assemble({"reasoning": "hm"}, {"reasoning": "m"}, {"content": "yes"})
    assert (reply.t_first_token, reply.t_first_visible) == (1.0, 3.0)
    assert reply.message == {"role": "assistant", "content": "yes", "reasoning": "hmm"}


def test_a_turn_of_tool_calls_alone_has_a_first_token() -> None:
    reply = assemble({"role": "assistant", "content": ""}, call(0, name="ls"), call(0, arguments="{}"))
    assert (reply.t_first_token, reply.t_first_visible, reply.t_last) == (2.0, 2.0, 3.0)
    assert {chunk.kind for chunk in reply.chunks} == {"tool"}
    assert reply.message["content"] is None


def test_argument_strings_are_joined_and_not_parsed() -> None:
    started = {"tool_calls": [{"index": 1, "id": "b", "type": "function", "function": {"name": "cat"}}]}
    reply = assemble(
        call(0, name="ls"), started, call(0, arguments='{ "p":'), call(1, arguments="{"), call(0, arguments=" 1}")
    )
    first, second = reply.message["tool_calls"]
    assert first["function"] == {"name": "ls", "arguments": '{ "p": 1}'}
    assert second == {"id": "b", "type": "function", "function": {"name": "cat", "arguments": "{"}}


def test_reasoning_sent_under_two_names_is_kept_twice_and_counted_once() -> None:
    reply = assemble({"reasoning": "abc", "reasoning_content": "abc"})
    assert reply.chunks[0].chars == 3
    assert reply.message["reasoning"] == reply.message["reasoning_content"] == "abc"


def test_no_token_at_all_is_null_and_not_zero() -> None:
    reply = assemble({"role": "assistant", "content": ""})
    assert reply.t_first_token is reply.t_first_visible is reply.t_last is None
    assert reply.usage.prompt_tokens is reply.usage.drafts is reply.usage.queue_s is None
    assert reply.message == {"role": "assistant", "content": ""}


def test_usage_and_metrics_of_the_final_event() -> None:
    parts = Assembler()
    speculation = {"num_spec_steps": 4, "num_draft_tokens": 12, "num_accepted_draft_tokens": 5}
    timings = {"queue_time_ms": 1, "time_to_first_token_ms": 20, "generation_time_ms": 300}
    details = {"prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 3}}
    usage = {"prompt_tokens": 100, "completion_tokens": 9, **details}
    parts.add({"choices": [], "usage": usage, "metrics": {**timings, "speculative_decoding": speculation}}, 1.0)
    got = parts.reply(0.0, 1.0).usage
    assert (got.prompt_tokens, got.cached_tokens, got.completion_tokens, got.reasoning_tokens) == (100, 64, 9, 3)
    assert (got.drafts, got.drafted_tokens, got.accepted_tokens) == (4, 12, 5)
    assert (got.queue_s, got.prefill_s, got.decode_s) == pytest.approx((0.001, 0.02, 0.3))


def test_nulls_within_usage_stay_null() -> None:
    parts = Assembler()
    parts.add({"choices": [], "usage": {"prompt_tokens": 5, "prompt_tokens_details": None}, "metrics": None}, 1.0)
    usage = parts.reply(0.0, 1.0).usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.prefill_s) == (5, None, None)


def test_the_reply_has_all_generated_ids_or_none():
    def event(ids: list[int] | None, text: str = "a") -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": {"content": text}, **({"token_ids": ids} if ids else {})}]}

    told, partly = Assembler(), Assembler()
    for ids in ([1], [2, 3]):
        told.add(event(ids), 0.0)
    for ids in ([1], None, [3]):
        partly.add(event(ids), 0.0)
    assert told.reply(0.0, 1.0).token_ids == (1, 2, 3)
    assert partly.reply(0.0, 1.0).token_ids is None
    assert Assembler().reply(0.0, 1.0).token_ids is None
