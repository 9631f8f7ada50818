"""How much of a reply could be copied, on texts whose answer is counted by hand."""

import pytest

from labkit.analysis.repetition import pieces, repetition
from labkit.core.errors import BadInput


def test_pieces_are_words_with_their_space_and_signs_and_make_up_the_text():
    text = "def f(x):\n    return x_1 + 2"
    assert pieces("def f(x):") == ["def", " f", "(", "x", ")", ":"]
    assert "".join(pieces(text)) == text


def test_a_reply_that_stands_in_the_prompt_is_copied_but_for_its_start():
    found = repetition("say a b c d e f g h i", "a b c d e f g h i", drafts=4)
    # `a` has no space before it, so it is another piece, and ` b` and ` c` do not follow the same two pieces.
    assert (found.pieces, found.seen) == (9, 6)
    # Three passes for one piece each, one for ` d` to ` h`, one for ` i`.
    assert found.passes == 5


def test_a_new_reply_is_copied_nowhere():
    found = repetition("one two three", " four five six")
    assert (found.pieces, found.seen, found.passes) == (3, 0, 3)


def test_a_reply_repeats_itself_too():
    found = repetition("", " x x x x x x x x x x", drafts=4)
    assert (found.pieces, found.seen) == (10, 7)  # from the fourth on, ` x` follows ` x x` as it did before


@pytest.mark.parametrize(("drafts", "passes"), [(1, 5), (2, 3), (4, 2), (8, 1)])
def test_more_drafts_a_pass_leave_fewer_passes(drafts: int, passes: int):
    """Nine pieces that were all seen: each pass yields its drafts and one more."""
    prompt = " a b c d e f g h i j k"
    found = repetition(f"{prompt} a b", " c d e f g h i j k", drafts=drafts)
    assert found.seen == 9
    assert found.passes == passes


def test_nothing_said_needs_no_pass():
    assert repetition("a b", "").passes == 0


@pytest.mark.parametrize("wrong", [{"match": 0}, {"drafts": 0}])
def test_a_drafter_that_looks_at_nothing_is_refused(wrong: dict[str, int]):
    with pytest.raises(BadInput):
        repetition("a", "b", **wrong)
