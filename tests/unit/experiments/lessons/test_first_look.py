"""What a first look says of runs that follow from their turns: which part each layer shortens, and what was too few."""

import pandas as pd
import pytest
from builders import frame_of
from synthetic import frame, step, steps

from labkit.analysis.arms import arm_table
from labkit.core.records import ChunkRecord
from labkit.experiments.lessons import first_look
from labkit.plots.wall_ledger import wall_ledger_info

ARMS = ("base", "prefix", "spec")


def run(turns: int = 6, arms: tuple[str, ...] = ARMS) -> pd.DataFrame:
    """Base reads for 0.6 to 1.6 s a turn and writes for 2 s; prefix reads what is new, spec writes in half the time."""
    return frame(steps(arms, turns=turns))


def test_arms_differ_by_the_flag_of_their_layer():
    table = first_look.differences("cpu-smollm2", ["base", "prefix"])
    assert list(table.columns) == ["base", "prefix"]
    assert table.loc[("engine", "--enable-prefix-caching")].tolist() == ["–", "set"]
    assert table.loc[("engine", "--no-enable-prefix-caching")].tolist() == ["set", "–"]
    assert len(table) == 2


def test_every_profile_has_its_differences_without_its_hardware():
    table = first_look.differences("mi300x-8-qwen3-235b", ["prefix", "spec"])
    assert "--speculative-config" in table.index.get_level_values("setting")
    assert table.loc[("engine-0", "--speculative-config"), "prefix"] == ""


def test_each_layer_shortens_its_own_part():
    assert first_look.each_shortens_its_part(wall_ledger_info(run())) == (
        True,
        "prefix takes 25 % of base's time to the first token and 100 % of its time after it; spec takes 100 % of "
        "base's time to the first token and 50 % of its time after it (n = 6 steps in each arm)",
    )


def test_a_layer_that_costs_elsewhere_is_a_surprise():
    slow = [step("prefix", turn, t_end=step("prefix", turn).t_end + 1) for turn in range(1, 7)]
    told = first_look.each_shortens_its_part(wall_ledger_info(frame([*steps(("base",), turns=6), *slow])))
    assert told.holds is False
    assert "150 % of its time after it" in told.saw


def test_most_seconds_before_the_first_token_or_not():
    writes = first_look.reads_more_than_it_writes(wall_ledger_info(run()))
    assert writes == (False, "base spends 35 % of 18.6 s before the first token (n = 6 steps)")
    reads = [step("base", turn, t_last=step("base", turn).t_first_token, t_end=0.1 + step("base", turn).t_first_token)
             for turn in range(1, 7)]  # fmt: skip
    assert first_look.reads_more_than_it_writes(wall_ledger_info(frame(reads))).holds is True


def test_the_first_token_waits_for_what_is_new():
    # turns 2 to 6 compute 200, 208, 216, 224 and 200 tokens under prefix: against the turn 2 / sqrt(9.5 * 10)
    assert first_look.waits_for_what_is_new(run()) == (
        True,
        "from turn 2 on the time to first token follows the prompt's length with a rank correlation of 1.00 under "
        "base; under prefix it is 0.21 with the prompt's length and 1.00 with the tokens that were computed "
        "(n = 5 turns in each arm)",
    )
    never_hits = [step("prefix", turn, t_first_token=step("base", turn).t_first_token) for turn in range(1, 7)]
    assert first_look.waits_for_what_is_new(frame([*steps(("base",), turns=6), *never_hits])).holds is False


@pytest.mark.parametrize("turns", [1, 2, 4])
def test_few_steps_tell_nothing(turns: int):
    few = run(turns)
    ledger = wall_ledger_info(few)
    told = [
        first_look.each_shortens_its_part(ledger),
        first_look.reads_more_than_it_writes(ledger),
        first_look.waits_for_what_is_new(few),
    ]
    assert [each.holds for each in told] == [None] * 3


def test_an_arm_that_was_not_asked_for_is_named():
    alone = run(arms=("base",))
    assert (
        first_look.each_shortens_its_part(wall_ledger_info(alone)).saw == "base was not measured beside prefix or spec"
    )
    assert first_look.waits_for_what_is_new(alone).holds is None
    other = wall_ledger_info(run(arms=("prefix", "spec")))
    assert first_look.reads_more_than_it_writes(other) == (None, "base was not measured")


def test_the_table_for_readers_has_a_dash_where_nothing_was_measured():
    table = first_look.arms_shown(arm_table(run(), frame_of([], ChunkRecord)))
    assert table["as fast as base"].tolist() == ["1.00x (n 6)", "1.36x (n 6)", "1.48x (n 6)"]
    assert table.loc["base", ["tokens a round", "prompt from cache"]].tolist() == ["–", "0 % of 75 %"]
    few = first_look.arms_shown(arm_table(run(2), frame_of([], ChunkRecord)))
    assert few.loc["prefix", "as fast as base"].endswith("(n 2, too few to tell)")
