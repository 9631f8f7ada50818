"""What a reply is made of: the engine's sums, in the order that its events tell."""

from __future__ import annotations

from labkit.analysis.reply_account import Made, drawn


def test_without_drafts_every_token_was_generated():
    assert drawn(20, None, [1] * 20) == Made(runs=(("generated", 20),), ordered=True)
    assert drawn(20, 0, [5] * 4) == Made(runs=(("generated", 20),), ordered=True)


def test_an_event_with_several_tokens_has_drafts_and_one_of_the_models_own():
    made = drawn(11, 6, [1, 1, 5, 3, 1])
    assert made.runs == (("generated", 2), ("accepted", 4), ("generated", 1), ("accepted", 2), ("generated", 2))
    assert made.ordered
    assert (made.of("accepted"), made.of("generated")) == (6, 5)


def test_where_a_reply_ends_within_a_verification_what_is_behind_its_end_is_cut():
    whole = drawn(8, 5, [1, 5, 2])
    assert (whole.runs[-2:], whole.cut) == ((("accepted", 1), ("generated", 1)), 0)
    at_a_draft = drawn(8, 6, [1, 5, 2])  # the last event holds two drafts and nothing of the model's own
    assert (at_a_draft.runs[-1], at_a_draft.of("accepted"), at_a_draft.cut) == (("accepted", 2), 6, 0)
    before_drafts = drawn(8, 8, [1, 5, 2])
    assert (before_drafts.runs[-1], before_drafts.of("accepted"), before_drafts.cut) == (("accepted", 2), 6, 2)
    assert whole.ordered
    assert at_a_draft.ordered
    assert before_drafts.ordered


def test_without_the_tokens_of_the_events_only_the_sums_are_known():
    for chunks in ([], [None, None], [5, None], [2, 2]):
        made = drawn(20, 12, chunks)
        assert made == Made(runs=(("accepted", 12), ("generated", 8)), ordered=False)
    assert drawn(5, 9, []).cut == 4


def test_events_that_bundle_tokens_without_drafts_are_not_taken_for_drafts():
    assert not drawn(30, 2, [10, 10, 10]).ordered


def test_nothing_is_known_of_a_reply_that_was_not_counted():
    assert drawn(None, None, [1, 2]) == Made()
