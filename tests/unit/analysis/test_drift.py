"""Drift: the first arm once more at the end, against its first block."""

import pandas as pd
import pytest
from builders import a_step, frame_of

from labkit.analysis.drift import DriftRow, drift
from labkit.core.records import StepRecord


def block(arm: str, repeat: int, seconds: float, tasks: int = 6, **values: object) -> list[StepRecord]:
    """Three steps of each of several tasks; later turns take longer, as prompts grow."""
    return [
        a_step(
            arm=arm, repeat=repeat, task=f"t{task}", recording=f"r{task}", turn=turn, t_end=1 + seconds * turn, **values
        )
        for task in range(tasks)
        for turn in (1, 2, 3)
    ]


def of(steps: pd.DataFrame, repeats: int = 1) -> DriftRow | None:
    return drift(steps, {"drift_check": True, "repeats": repeats})


def test_a_machine_that_slows_down_by_a_fifth_is_said_to():
    rows = [*block("prefix", 0, 1.0), *block("base", 0, 9.0), *block("prefix", 1, 1.2)]
    found = of(frame_of(rows))
    assert (found.arm, found.n_pairs, found.n_tasks, found.too_few) == ("prefix", 18, 6, False)
    assert found.gain == pytest.approx(1 / 1.2)
    assert found.low == found.high == pytest.approx(1 / 1.2)  # every task slowed down alike
    assert found.notable
    assert "prefix was 1.20x slower at the end" in found.in_words()
    assert "18 requests of 6 tasks, 95 % 1.20-1.20" in found.in_words()


def test_the_interval_is_over_tasks_and_covers_what_differs_between_them():
    last = [step for task in range(6) for step in block("base", 2, 1.0 + 0.1 * task)[task * 3 : task * 3 + 3]]
    rows = [*block("base", 0, 1.0), *block("base", 1, 5.0), *block("prefix", 0, 1.0), *block("prefix", 1, 1.0), *last]
    found = of(frame_of(rows), repeats=2)
    assert found.low < found.gain < found.high < 1  # against repeat 0, not the slow repeat 1
    assert found.gain == pytest.approx((1.0 * 1.1 * 1.2 * 1.3 * 1.4 * 1.5) ** (-1 / 6))


def test_few_tasks_are_said_to_be_few_and_one_has_no_interval():
    rows = [*block("base", 0, 1.0, tasks=1), *block("prefix", 0, 1.0, tasks=1), *block("base", 1, 1.1, tasks=1)]
    found = of(frame_of(rows))
    assert found.too_few
    assert (found.low, found.high) == (None, None)
    assert found.gain == pytest.approx(1 / 1.1)
    assert "3 requests of 1 task, too few to tell" in found.in_words()


def test_failed_and_thrown_away_steps_are_no_drift():
    rows = [*block("base", 0, 1.0), *block("prefix", 0, 1.0), *block("base", 1, 1.0)]
    rows += block("base", 1, 30.0, error="cut off")
    rows += block("base", 1, 30.0, warmup=True)
    found = of(frame_of(rows))
    assert found.gain == pytest.approx(1.0)
    assert not found.notable
    lost = [*block("base", 0, 1.0), *block("prefix", 0, 1.0), *block("base", 1, 1.0, error="cut off")]
    nothing = of(frame_of(lost))
    assert nothing.gain is None
    assert not nothing.notable
    assert "no request finished in both" in nothing.in_words()


def test_without_a_block_at_the_end_there_is_nothing_to_say():
    assert of(frame_of([])) is None
    assert of(frame_of([*block("base", 0, 1.0), *block("prefix", 0, 1.0)])) is None
    both = [step for arm in ("base", "prefix") for repeat in (0, 1) for step in block(arm, repeat, 1.0)]
    assert of(frame_of(both), repeats=2) is None
    rows = frame_of([*block("base", 0, 1.0), *block("prefix", 0, 1.0), *block("base", 1, 2.0)])
    assert drift(rows, {"repeats": 2}) is None  # a repeat, since no drift check was asked for
    assert of(rows) is not None


def test_a_run_that_was_cut_short_and_an_arm_that_was_refused_are_no_drift():
    cut = [*block("base", 0, 1.0), *block("prefix", 0, 1.0), *block("base", 1, 1.2)]
    assert of(frame_of(cut), repeats=2) is None
    refused = [*block("base", 0, 1.0), *block("prefix", 0, 1.0), *block("base", 1, 1.2), *block("base", 2, 1.2)]
    assert of(frame_of(refused), repeats=3) is None
    assert drift(frame_of(refused), {"repeats": 3, "drift_check": False}) is None
