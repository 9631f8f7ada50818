"""A pass of five steps holds those of one and of two: cut, they are the passes that would have been."""

from builders import a_step, frame_of

from labkit.analysis.passes import passes
from labkit.experiments.lessons.steps_cut import cut_short


def whole(arm: str = "base", turns: int = 5, **changes: object) -> list:
    """Prompts of 100, 200, 300... tokens."""
    return [
        a_step(arm=arm, turn=turn, prompt_tokens=100 * turn, cached_tokens=0, **{"recording": "r", **changes})
        for turn in range(1, turns + 1)
    ]


def sums(steps: list, counts=(1, 2, 5), arms=("base",)) -> dict[int, list[float]]:
    table = passes(cut_short(frame_of(steps), counts, arms))
    assert table["whole"].all()
    return {int(count): of["prompt_sent"].tolist() for count, of in table.groupby("steps")}


def test_each_count_has_the_first_steps_of_every_pass():
    assert sums([*whole(), *whole(repeat=1)]) == {1: [100, 100], 2: [300, 300], 5: [1500, 1500]}


def test_a_pass_that_lacks_a_step_has_only_the_counts_before_it():
    gone = [step if step.turn != 4 else a_step(turn=4, recording="r", error="HTTP 500") for step in whole()]
    assert sums(gone) == {1: [100], 2: [300]}
    assert sums(whole(turns=2)) == {1: [100], 2: [300]}


def test_other_arms_warm_passes_and_those_under_a_condition_are_left_out():
    others = [*whole("pd"), *whole(cache="warm"), *whole(condition="agents=2"), *whole(warmup=True, recording="w")]
    assert sums([*whole(), *others]) == sums(whole())
    assert cut_short(frame_of(others), [1], ["base"]).empty
