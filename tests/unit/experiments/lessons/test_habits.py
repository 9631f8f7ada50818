"""Habits that break a prefix and a template that rewrites history, counted in characters: a tokenizer by hand."""

from __future__ import annotations

import pytest
from synthetic import recording as tiny

from labkit.analysis.routed import routed_table
from labkit.core.chat import ChatRequest
from labkit.experiments.lessons import habits, pit_tables
from labkit.experiments.lessons.counting import BEGIN, prompt, whole
from labkit.experiments.lessons.rewritten_history import (
    FORGETS,
    KEEPS,
    SILENT,
    costs_more,
    history_table,
    sums,
    templates,
    thinking,
)
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, named

NAME = "ranks-that-jump-live"


def encode(text: str) -> list[int]:
    """A token a character."""
    return [ord(one) for one in text]


def render(request: ChatRequest) -> str:
    """Tools, then each message on a line: nothing is ever rewritten."""
    calls = [
        "".join(call["function"]["arguments"] for call in message.get("tool_calls") or [])
        for message in request.messages
    ]
    said = zip(request.messages, calls, strict=True)
    tools = "".join(tool["function"]["name"] for tool in request.tools or [])
    return tools + "".join(f"{message['role']}: {message.get('content') or ''}{call}\n" for message, call in said)


@pytest.fixture(scope="module")
def table():
    return habits.habit_table(named(NAME), render, encode, block_size=8).set_index("habit")


def test_the_recording_as_it_was_breaks_nowhere_and_the_time_last_neither(table):
    assert table.loc["none: as recorded", "breaks_at"] == "–"
    assert table.loc["the time last", "breaks_at"] == "–"


def test_each_habit_is_found_where_it_is(table):
    assert table.loc["the time first", "breaks_at"] == "message 1 (system): a time or date that changes"
    assert table.loc["tools in another order", "breaks_at"] == "tools: the same tools in another order"
    assert table.loc["arguments written anew", "breaks_at"].startswith("message")
    assert table.loc["arguments written anew", "breaks_at"].endswith("parsed and written again")


def test_what_stands_first_costs_all_and_an_argument_little(table):
    computed = table["computed"]
    assert computed["none: as recorded"] < computed["arguments written anew"] < computed["the time first"] / 2
    assert table.loc["the time first", "hit_ceiling"] < 0.05
    assert (table["n"] == len(named(NAME).steps)).all()


def test_the_sentence_says_both(table):
    holds, saw = habits.arguments_cost(table.reset_index())
    assert holds
    assert "writing the arguments anew took the ceiling from" in saw
    assert f"in {len(named(NAME).steps)} requests" in saw


def test_more_replicas_are_told_as_they_were_counted():
    turns = [(list(range(n)), list(range(n + 1))) for n in (4, 8, 12, 16)]
    holds, saw = habits.turns_cost(routed_table(turns, [1, 2], 2))
    assert holds
    assert "with 1 replica 16 prompt tokens were to compute, with 2 28" in saw
    assert "from 60 % to 30 % (n = 4 requests)" in saw
    assert habits.turns_cost(routed_table(turns, [1, 1], 2)).holds is False


def test_a_prompt_ends_where_the_reply_begins():
    request = ChatRequest(messages=[{"role": "user", "content": "Go."}])
    assert prompt(request, render, encode) == encode("user: Go.\n" + BEGIN)
    reply = {"role": "assistant", "content": "Gone."}
    assert whole(request, reply, render, encode) == encode("user: Go.\nassistant: Gone.")


def talk(*later: str) -> Recording:
    """A question, and then a message of each of these roles, every one answered."""
    roles = ["user", *later]
    steps = tuple(
        RecordedStep(
            turn=turn,
            kind="act",
            append=[{"role": role, "content": f"{turn}: what next, in this place? " * 4}],
            reply={"role": "assistant", "content": f"Done with {turn}. " * 4},
        )
        for turn, role in enumerate(roles, 1)
    )
    return Recording(
        header=RecordingHeader(name="talk", task="talk", decided_by="scripted", model="any", tools=[]), steps=steps
    )


def test_thoughts_are_written_behind_the_users_last_message_alone():
    request = thinking(talk("tool", "user")).request(2)
    forgets, keeps = (templates()[name](request) for name in (FORGETS, KEEPS))
    assert forgets.count("<think>") == 0
    assert keeps.count("<think>") == 2
    in_the_loop = thinking(talk("tool", "tool")).request(2)
    assert templates()[FORGETS](in_the_loop).count("<think>") == 2


def test_within_a_tool_loop_nothing_is_rewritten_and_with_each_user_message_all_is():
    loop = sums(history_table(talk("tool", "tool", "tool"), encode, 8)).set_index("template")["rewritten"]
    assert dict(loop) == {FORGETS: 0, KEEPS: 0, SILENT: 0}
    asked = sums(history_table(talk("user", "user", "user"), encode, 8)).set_index("template")["rewritten"]
    assert dict(asked) == {FORGETS: 3, KEEPS: 0, SILENT: 0}


def test_a_prompt_is_shorter_without_its_thoughts_and_may_still_be_dearer():
    rows = history_table(talk(*["tool"] * 6, "user", "user"), encode, 8)
    told = sums(rows).set_index("template")
    assert told.loc[FORGETS, "prompt"] < told.loc[KEEPS, "prompt"]
    assert told.loc[FORGETS, "computed"] > told.loc[KEEPS, "computed"]
    holds, saw = costs_more(rows)
    assert holds
    assert f"{told.loc[FORGETS, 'computed']:,} prompt tokens to compute" in saw
    assert "it rewrote 2 of 9 turns, the other 0" in saw


def test_the_stand_in_is_the_beginning_of_what_was_told():
    steps = thinking(tiny(turns=2), chars=5).steps
    assert [step.reply["reasoning"] for step in steps] == ["Count", "Count"]


def test_tables_are_in_words(table):
    rows = history_table(talk("user"), encode, 8)
    assert list(pit_tables.history(sums(rows)).columns) == [
        "template", "turns", "of them rewritten", "prompt tokens", "to compute",
    ]  # fmt: skip
    shown = pit_tables.habits(table.reset_index())
    assert list(shown["habit"]) == list(table.index)
    assert shown["ceiling"].str.endswith(" %").all()
