"""Groups of turns and of computed tokens, and equal texts, counted by hand."""

from builders import a_step, frame_of

from labkit.analysis.texts import in_words, same_texts
from labkit.analysis.turns import by_computed, by_turn


def timed(turn: int, ttft: float, **more: object):
    return a_step(turn=turn, t_send=0.0, t_first_token=ttft, t_end=2 * ttft, **more)


def test_a_late_turn_does_not_hide_behind_a_first_one():
    steps = [timed(1, 8.0), timed(2, 1.0), timed(5, 3.0), timed(21, 0.5), timed(30, 0.7), timed(3, 9.0, warmup=True)]
    table = by_turn(frame_of(steps)).set_index("group")
    assert list(table.index) == ["1", "2-5", "21+"]
    assert table.loc["1", "ttft_p50_s"] == 8.0
    assert (table.loc["2-5", "n"], table.loc["2-5", "ttft_p50_s"], table.loc["2-5", "e2e_p50_s"]) == (2, 2.0, 4.0)
    assert table.loc["21+", "ttft_p50_s"] == 0.6


def test_groups_by_computed_tokens_leave_out_who_did_not_report():
    steps = [
        timed(1, 4.0, prompt_tokens=5000, cached_tokens=0),
        timed(2, 1.0, prompt_tokens=5100, cached_tokens=4900),
        timed(3, 2.0),
        timed(1, 3.0, arm="prefix", prompt_tokens=300, cached_tokens=44),
    ]
    table = by_computed(frame_of(steps))
    assert list(zip(table["arm"], table["group"], table["n"], strict=True)) == [
        ("base", "0-255", 1), ("base", "4096+", 1), ("prefix", "256-1023", 1)
    ]  # fmt: skip


def test_nothing_in_nothing_out():
    assert by_turn(frame_of([])).empty
    assert by_computed(frame_of([])).empty
    assert in_words(same_texts(frame_of([]))) == ""


def test_texts_are_compared_pair_by_pair_and_tokens_counted_on_both_sides():
    steps = [
        a_step(turn=1, text_sha256="x", completion_tokens=10),
        a_step(turn=2, text_sha256="y", completion_tokens=10),
        a_step(turn=3, text_sha256="z", completion_tokens=10, error="HTTP 500"),
        a_step(turn=1, arm="spec", text_sha256="x", completion_tokens=10),
        a_step(turn=2, arm="spec", text_sha256="Y", completion_tokens=4),
        a_step(turn=3, arm="spec", text_sha256="z", completion_tokens=10),
        a_step(turn=1, arm="prefix", text_sha256="x"),
    ]
    table = same_texts(frame_of(steps)).set_index("arm")
    assert list(table.index) == ["prefix", "spec"]
    assert (table.loc["spec", "n_pairs"], table.loc["spec", "n_same"]) == (2, 1)
    assert (table.loc["spec", "tokens"], table.loc["spec", "base_tokens"]) == (14, 20)
    assert table["tokens"].isna()["prefix"]
    assert "spec 1 of 2" in in_words(same_texts(frame_of(steps)))
    assert "all 1 pairs" in in_words(same_texts(frame_of([steps[0], steps[6]])))
