"""Prompts added up by hand: sums, the two-number formula, and what is refused."""

import pytest

from labkit.core.chat import Usage
from labkit.core.errors import BadInput
from labkit.experiments.lessons.steps_predicted import formula, line, predicted, predicted_shown, prompts
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader, named


def recording(*lengths: int | None) -> Recording:
    steps = tuple(
        RecordedStep(
            turn=turn,
            kind="act",
            append=[{"role": "user", "content": "x"}],
            reply={"role": "assistant", "content": "y"},
            usage=Usage(prompt_tokens=length),
        )
        for turn, length in enumerate(lengths, 1)
    )
    return Recording(header=RecordingHeader(name="r", task="t", decided_by="s", model="m", tools=[]), steps=steps)


def test_prompts_that_grow_evenly_are_the_formula_to_the_token():
    table = predicted(recording(*range(100, 1100, 100)), [1, 5, 10]).set_index("steps")
    assert table["sent"].tolist() == [100, 1500, 5500]
    assert table["by_formula"].tolist() == [100, 1500, 5500]
    assert table["last_prompt"].tolist() == [100, 500, 1000]
    assert table["growth_share"].tolist() == pytest.approx([0, 1000 / 1500, 4500 / 5500])


def test_half_of_the_tokens_are_growth_where_both_parts_of_the_formula_are_equal():
    straight = line(recording(300, 400, 500))
    assert straight.half_at == 7
    assert straight.growth_share(7) == pytest.approx(0.5)
    assert "first prompt has 300 tokens, each step adds 100. Beyond 7 steps" in formula(recording(300, 400, 500))
    assert line(recording(300, 300)).half_at is None
    assert formula(recording(300)).endswith("nothing grows.")


def test_each_step_says_what_was_added_and_what_it_came_to():
    table = prompts(recording(100, 250, 300))
    assert table[["turn", "prompt", "added", "sum"]].values.tolist() == [
        [1, 100, 100, 100],
        [2, 250, 150, 350],
        [3, 300, 50, 650],
    ]


def test_a_count_beyond_the_recording_stands_under_its_length_as_in_the_run():
    assert predicted(recording(100, 200), [1, 15, 30])["steps"].tolist() == [1, 2]


def test_a_recording_without_counts_and_a_count_of_nothing_are_refused():
    with pytest.raises(BadInput, match="whose prompts were counted"):
        prompts(recording(100, None))
    with pytest.raises(BadInput, match="counts"):
        predicted(recording(100), [0])


def test_the_table_for_readers_rounds_nothing_that_is_compared():
    shown = predicted_shown(predicted(named("night-shifts"), [5, 15]))
    assert shown["all prompts, added up"].tolist() == ["5,071", "28,927"]
    assert shown["last prompt"].tolist() == ["1,435", "3,082"]
