"""Drafters by kind and turn: token-weighted, natural steps only, paired with their own reference."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from builders import a_step, frame_of

from labkit.analysis.draft_positions import position_table
from labkit.analysis.drafter_gain import gain_table
from labkit.analysis.drafters import drafter_table
from labkit.core.conditions import of_reference
from labkit.core.records import StepRecord


def drafted(turn: int, drafts: int, proposed: int, accepted: int, **changes: object) -> StepRecord:
    told = {"drafts": drafts, "drafted_tokens": proposed, "accepted_tokens": accepted, "turn": turn}
    return a_step(**{"arm": "prefix+spec", "condition": "method=ngram", "text_sha256": "x", **told, **changes})


def without(turn: int, **changes: object) -> StepRecord:
    return a_step(**{"arm": "prefix", "condition": "method=none", "turn": turn, "text_sha256": "x", **changes})


def row(table: pd.DataFrame, group: str, method: str = "ngram") -> pd.Series:
    (found,) = table[(table["group"] == group) & (table["method"] == method)].to_dict("records")
    return found


def test_rate_and_length_are_weighted_by_tokens_in_each_group():
    kinds = ["plan", "act", "act", "act", "act", "act", "act", "answer"]
    turns = [1, 2, 3, 4, 5, 6, 20, 21]
    accepted = [4, 0, 4, 0, 4, 0, 4, 2]
    rows = [drafted(t, 1, 4, a, kind=k) for t, k, a in zip(turns, kinds, accepted, strict=True)]
    rows[1] = drafted(2, 10, 40, 10, kind="act")  # one long step counts as ten
    table = drafter_table(frame_of(rows))
    assert table["by"].tolist() == ["all", "kind", "kind", "kind", "turn", "turn", "turn"]
    assert row(table, "all")["rate"] == pytest.approx(28 / 68)
    assert row(table, "all")["length"] == pytest.approx(1 + 28 / 17)
    assert row(table, "act")["rate"] == pytest.approx(22 / 60)
    assert [row(table, g)["n"] for g in ("1-5", "6-20", "21+")] == [5, 2, 1]
    assert row(table, "1-5")["rate"] == pytest.approx(22 / 56)
    assert row(table, "21+")["rate"] == 0.5


def test_fewer_than_five_steps_are_too_few_and_have_no_interval():
    table = drafter_table(frame_of([drafted(turn, 1, 4, 2) for turn in range(1, 5)]))
    four = row(table, "all")
    assert four["too_few"]
    assert pd.isna(four["rate_low"])
    five = row(drafter_table(frame_of([drafted(turn, 1, 4, turn % 2) for turn in range(1, 6)])), "all")
    assert not five["too_few"]
    assert five["over"] == "steps of one task"
    assert five["rate"] == pytest.approx(3 / 20)
    assert 0 <= five["rate_low"] < five["rate"] < five["rate_high"]


def test_the_interval_is_the_delta_methods_over_tasks_where_there_are_three():
    rows = []
    for task, accepted in (("a", 1), ("b", 2), ("c", 3)):
        rows += [drafted(turn, 1, 4, accepted, task=task) for turn in range(1, 21)]
    told = row(drafter_table(frame_of(rows)), "all")
    # rates 1/4, 2/4, 3/4 of equal weight: the mean's t interval, standard error 0.25 / sqrt(3), 2 degrees of freedom
    assert told["over"] == "tasks"
    assert told["rate"] == pytest.approx(0.5)
    reach = 4.302653 * 0.25 / 3**0.5
    assert told["length_high"] - told["length"] == pytest.approx(4 * reach, rel=1e-5)
    assert (told["rate_low"], told["rate_high"]) == (0.0, 1.0)  # 0.5 +- 0.62, and a share has ends


def test_pinned_failed_and_warm_up_steps_are_no_acceptance_and_nor_is_the_reference():
    rows = [drafted(1, 1, 4, 4, mode="pinned"), drafted(2, 1, 4, 4, error="HTTP 500"), drafted(3, 1, 4, 4, warmup=True)]
    rows += [without(4, drafts=1, drafted_tokens=4, accepted_tokens=4), drafted(5, 1, 4, 1)]
    table = drafter_table(frame_of(rows))
    assert set(table["method"]) == {"ngram"}
    assert row(table, "all")["rate"] == 0.25


def both_sides(gain: float, tasks: int = 6, repeats: int = 4, turns: int = 5, **changes: object) -> list[StepRecord]:
    """Every step takes half a second with the drafter, and `gain` times as long without, on starts of their own."""
    rows = []
    for task, repeat, turn in np.ndindex(tasks, repeats, turns):
        told = {"task": f"t{task}", "repeat": repeat, **changes}
        rows += [drafted(turn + 1, 1, 4, 2, t_end=1.5, **told), without(turn + 1, t_end=1 + gain / 2, **told)]
    return rows


def test_each_step_is_paired_with_the_same_request_without_speculation():
    rows = [*both_sides(2.0, kind="act"), *both_sides(0.5, kind="answer", recording="other")]
    table = gain_table(frame_of(rows))
    act, answer = row(table, "act"), row(table, "answer")
    assert (act["n_pairs"], act["gain"], act["verdict"]) == (120, pytest.approx(2.0), "faster")
    assert (answer["n_pairs"], answer["gain"]) == (120, pytest.approx(0.5))
    assert answer["verdict"] == "costs more than it gives"
    assert (act["n_tasks"], act["n_repeats"], act["n_starts"]) == (6, 4, 4)
    assert row(table, "all")["gain"] == pytest.approx((2 + 0.5) / 2)


def test_a_slow_start_of_the_drafters_engine_is_no_verdict():
    """Three tasks, one start that is 15 % slow as a whole: the interval over steps and tasks does not show it."""
    slow = [
        replace(step, t_end=1 + 0.5 * 1.15 * (1 + 0.02 * step.turn)) if step.arm == "prefix+spec"
        else replace(step, t_end=1 + 0.5 * (1 + 0.021 * step.turn))
        for step in both_sides(1.0, tasks=3, repeats=1)
    ]  # fmt: skip
    told = row(gain_table(frame_of(slow)), "all")
    assert told["high"] < 1
    assert (told["n_starts"], told["verdict"]) == (1, "too few to tell")


@pytest.mark.parametrize(
    ("tasks", "repeats", "engine"), [(4, 4, None), (6, 1, None), (6, 3, None), (6, 4, "one for all")]
)
def test_a_verdict_on_times_needs_five_tasks_and_enough_starts(tasks, repeats, engine):
    rows = [replace(step, engine=engine or step.engine) for step in both_sides(2.0, tasks=tasks, repeats=repeats)]
    assert row(gain_table(frame_of(rows)), "all")["verdict"] == "too few to tell"
    assert row(gain_table(frame_of(both_sides(2.0, tasks=5, repeats=4))), "all")["verdict"] == "faster"


def test_starts_that_differ_as_much_as_the_gain_are_no_gain():
    dice = np.random.default_rng(3)
    off = {(arm, repeat): dice.normal(0, 0.3) for arm in ("prefix", "prefix+spec") for repeat in range(4)}
    rows = [
        replace(step, t_end=1 + (step.t_end - 1) * math.exp(off[step.arm, step.repeat])) for step in both_sides(1.2)
    ]
    told = row(gain_table(frame_of(rows)), "all")
    assert told["low"] > 1 or told["high"] < 1  # over steps and tasks alone it looks clear
    assert told["verdict"] == "no difference to be seen"


def test_repeats_and_tasks_are_not_mixed_up_in_pairs():
    rows = [drafted(1, 1, 4, 2, repeat=r, task=t, t_end=2.0) for r in (0, 1) for t in ("a", "b")]
    rows += [without(1, repeat=r, task=t, t_end=1 + (2.0 if t == "a" else 4.0)) for r in (0, 1) for t in ("a", "b")]
    told = row(gain_table(frame_of(rows)), "all")
    assert (told["n_pairs"], told["n_tasks"], told["n_repeats"], told["gain"]) == (4, 2, 2, 3.0)
    assert told["verdict"] == "too few to tell"


def test_text_that_changed_is_counted_and_decode_is_told_apart_from_prefill():
    rows = [drafted(t, 1, 4, 2, t_first_token=1.2, t_last=1.5, text_sha256="y" if t == 1 else "x") for t in range(1, 7)]
    rows += [without(t, t_first_token=1.2, t_last=1.8, t_end=1.8) for t in range(1, 7)]
    told = row(gain_table(frame_of(rows)), "all")
    assert (told["n_pairs"], told["n_same"]) == (6, 5)
    assert told["gain"] == pytest.approx(0.8 / 0.5)
    assert told["decode_gain"] == pytest.approx(2.0)


def test_a_drafter_with_engine_settings_of_its_own_is_compared_with_a_reference_that_has_them():
    rows = [drafted(t, 1, 4, 2, condition=f"method={m}") for m in ("eagle3", "ngram", "suffix") for t in range(1, 6)]
    rows += [without(t, t_end=1.75) for t in range(1, 6)]
    rows += [without(t, condition=of_reference(("ngram", "suffix")), t_end=2.0) for t in range(1, 6)]
    table = gain_table(frame_of(rows))
    assert [row(table, "all", m)["gain"] for m in ("eagle3", "ngram", "suffix")] == [1.5, 2.0, 2.0]
    assert gain_table(frame_of(rows[:5])).empty


def test_positions_are_accepted_over_all_drafts_of_a_drafter():
    def event(condition: str, drafts: int, *accepted: int, role: str = "engine") -> dict:
        growth = {"drafts": drafts, "accepted_per_position": accepted or None}
        return {"condition": condition, "processes": {role: {"growth": growth}}}

    events = [event("method=ngram", 10, 8, 4), event("method=ngram", 10, 6, 2, role="decode"),
              event("method=none", 0), event("", 5, 5), event("method=suffix", 0, 0, 0)]  # fmt: skip
    table = position_table(events)
    assert table[["method", "position", "rate"]].values.tolist() == [["ngram", 1, 0.7], ["ngram", 2, 0.3]]
    assert position_table([]).empty
