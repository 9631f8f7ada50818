"""Tokens of messages from usage alone: sums are those of the engine, and the cached prefix falls where it must."""

from __future__ import annotations

import random

import pytest

from labkit.analysis.token_account import NOT_COUNTED, Added, Segment, Share, apportioned, segments, shares


def chars(*counts: int) -> list[Added]:
    return [Added(chars=count) for count in counts]


def test_two_prompts_differ_by_the_reply_and_by_what_was_added():
    added = [chars(100), [Added(chars=50, tokens=30), *chars(10)], [Added(chars=9, tokens=5), *chars(2000)]]
    assert shares(added, [100, 150, 555]) == [Share(100), Share(30), Share(20), Share(5), Share(400)]


def test_messages_that_came_at_once_share_by_their_characters_as_an_estimate():
    added = [chars(280, 80)]
    assert shares(added, [100]) == [Share(75, True), Share(25, True)]
    added = [chars(1), [Added(chars=50, tokens=30), *chars(180, 80)]]
    assert shares(added, [10, 70]) == [Share(10), Share(30), Share(20, True), Share(10, True)]


def test_a_prompt_that_was_not_counted_is_shared_out_with_the_next():
    added = [chars(80), chars(180), chars(80)]
    assert shares(added, [10, None, 40]) == [Share(10), Share(20, True), Share(10, True)]
    assert shares(added, [10, None, None]) == [Share(10), NOT_COUNTED, NOT_COUNTED]
    assert shares(added, [None, None, None]) == [NOT_COUNTED] * 3


def test_a_reply_that_something_else_counted_is_not_believed_where_it_cannot_be():
    added = [chars(10), [Added(chars=80, tokens=90), *chars(80)]]
    assert shares(added, [10, 60]) == [Share(10), Share(25, True), Share(25, True)]


def test_the_cached_prefix_falls_into_the_first_messages():
    known = [Share(100), Share(30), Share(20, True), Share(50)]
    assert segments(known, 200, 144) == [
        Segment(0, cached=100), Segment(1, cached=30), Segment(2, cached=14, computed=6, estimated=True),
        Segment(3, computed=50),
    ]  # fmt: skip
    assert segments(known, 200, 0)[0] == Segment(0, computed=100)
    assert segments(known, 200, 999)[3] == Segment(3, cached=50)


def test_what_was_not_measured_is_unknown_and_not_computed():
    assert segments([Share(7)], 7, None) == [Segment(0, unknown=7)]
    assert segments([Share(7)], None, None) == []
    assert segments([NOT_COUNTED], 9, 4) == [Segment(0, cached=4, computed=5, estimated=True)]


def test_a_history_that_was_rewritten_still_adds_up_as_an_estimate():
    known = shares([chars(80), chars(80), chars(80)], [100, 50, 70])
    assert [share.tokens for share in known] == [100, 0, 0]
    found = segments(known[:2], 50, 20)
    assert sum(segment.tokens for segment in found) == 50
    assert sum(segment.cached for segment in found) == 20
    assert all(segment.estimated for segment in found)


def test_segments_of_any_conversation_add_up_to_what_the_engine_counted():
    dice = random.Random(7)
    for _ in range(200):
        added, prompts, total = [], [], 0
        for turn in range(dice.randint(1, 6)):
            new = chars(*(dice.randint(0, 400) for _ in range(dice.randint(1, 3))))
            reply = [Added(chars=40, tokens=dice.choice([None, dice.randint(1, 60)]))] if turn else []
            added.append([*reply, *new])
            total += dice.randint(1, 500)
            prompts.append(total if dice.random() < 0.8 else None)
        known, place = shares(added, prompts), 0
        for new, prompt in zip(added, prompts, strict=True):
            place += len(new)
            if prompt is None:
                continue
            cached = dice.randint(0, prompt)
            found = segments(known[:place], prompt, cached)
            assert sum(segment.tokens for segment in found) == prompt
            assert sum(segment.cached for segment in found) == cached
            borders = [n for n, segment in enumerate(found) if segment.computed]
            assert not any(segment.cached for segment in found[borders[0] + 1 if borders else len(found) :])


@pytest.mark.parametrize(
    ("total", "weights", "parts"), [(10, [1, 1, 1], [4, 3, 3]), (5, [0, 0], [3, 2]), (7, [3, 0, 4], [3, 0, 4])]
)
def test_whole_parts_add_up(total, weights, parts):
    assert apportioned(total, weights) == parts
