"""Growth with the steps: closed forms in, exponents and shares out, and what must not be told is not told."""

from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest
from builders import a_sample, a_step, frame_of

from labkit.analysis.exponents import exponent_table
from labkit.analysis.growth import growth_table
from labkit.analysis.passes import passes
from labkit.core.records import SampleRecord, StepRecord

COUNTS = (4, 8, 16, 32)
FIRST, MORE = 100, 100
Cached = Callable[[int], int]


def of_pass(
    arm: str, count: int, cached: Cached, *, repeat: int = 0, task: str = "t", **changes: object
) -> list[StepRecord]:
    """Prompts 100, 200, 300...; a second for 1000 computed tokens, ten generated ones for free."""
    made, t = [], 0.0
    for turn in range(1, count + 1):
        prompt = FIRST + MORE * (turn - 1)
        hit = cached(turn)
        took = (prompt - hit) / 1000
        made.append(
            a_step(
                arm=arm, task=task, repeat=repeat, turn=turn, condition=f"steps={count}", recording="r",
                t_send=t, t_end=t + took, prompt_tokens=prompt, cached_tokens=hit, completion_tokens=10,
                prefill_s=took / 2, tool_name="look" if turn % 2 else None, tool_s=0.5 if turn % 2 else None,
                **changes,
            )
        )  # fmt: skip
        t += took
    return made


def nothing(turn: int) -> int:
    return 0


def history(turn: int) -> int:
    return 0 if turn == 1 else FIRST + MORE * (turn - 2)


def run(repeats: int = 3, tasks: tuple[str, ...] = ("t",)) -> pd.DataFrame:
    return frame_of(run_rows(repeats, tasks))


def run_rows(repeats: int, tasks: tuple[str, ...]) -> list[StepRecord]:
    rows = []
    for task in tasks:
        for repeat in range(repeats):
            for count in COUNTS:
                rows += of_pass("base", count, nothing, repeat=repeat, task=task)
                rows += of_pass("prefix", count, history, repeat=repeat, task=task)
    return rows


def row(table: pd.DataFrame, **where: object) -> pd.Series:
    for name, value in where.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_without_a_cache_the_sum_of_prompts_is_the_closed_form_and_with_one_it_is_the_last_prompt():
    table = growth_table(run(), kv_bytes_per_token=2)
    for count in COUNTS:
        base, prefix = (row(table, arm=arm, steps=count) for arm in ("base", "prefix"))
        closed = count * FIRST + MORE * count * (count - 1) / 2
        last = FIRST + MORE * (count - 1)
        assert base["prompt_sent"] == prefix["prompt_sent"] == base["prompt_computed"] == closed
        assert prefix["prompt_computed"] == last
        assert prefix["computed_vs_base"] == pytest.approx(closed / last)
        assert prefix["time_vs_base"] == pytest.approx(closed / last)
        assert base["e2e_s"] == pytest.approx(closed / 1000)
        assert base["with_tools_s"] == pytest.approx(closed / 1000 + 0.5 * count / 2)
        assert base["prefill_share"] == pytest.approx(0.5)
        assert (base["generated"], base["peak_context"], base["kv_bytes"]) == (10 * count, last + 10, 2 * (last + 10))
        assert (base["n_passes"], base["n_broken"]) == (3, 0)


def test_the_exponent_tells_quadratic_from_linear():
    table = exponent_table(run())
    base, prefix = (row(table, arm=arm, measure="prompt_computed") for arm in ("base", "prefix"))
    assert base["exponent"] == pytest.approx(1.908, abs=0.001)  # of n (n + 1) / 2: not yet 2
    assert base["last_exponent"] == pytest.approx(1.957, abs=0.001)  # log2(528 / 136)
    assert [prefix["exponent"], prefix["last_exponent"]] == pytest.approx([1.0, 1.0])
    assert (base["verdict"], base["over"]) == ("faster than the steps, on this one task", "repeats of one task")
    assert prefix["verdict"] == "not to be told from in step with them"
    assert row(table, arm="base", measure="e2e_s")["exponent"] == pytest.approx(base["exponent"])


def test_times_need_two_starts_and_several_tasks_five():
    one = frame_of([replace(step, engine="kept") for step in run_rows(3, ("t",))])
    table = exponent_table(one)
    assert row(table, arm="base", measure="e2e_s")["verdict"] == "too few to tell"
    assert row(table, arm="base", measure="e2e_s")["n_starts"] == 1
    assert row(table, arm="base", measure="prompt_computed")["verdict"].startswith("faster than the steps")
    few, enough = exponent_table(run(2, tuple("abcd"))), exponent_table(run(2, tuple("abcde")))
    assert row(few, arm="base", measure="prompt_computed")["low"] > 1
    assert row(few, arm="base", measure="prompt_computed")["verdict"] == "too few to tell"
    assert row(enough, arm="base", measure="e2e_s")["verdict"] == "faster than the steps"
    assert row(exponent_table(run(1, tuple("abcde"))), arm="base", measure="e2e_s")["verdict"] == "too few to tell"


def test_with_three_tasks_the_interval_is_over_tasks():
    rows = of_pass("base", 4, nothing, task="a") + of_pass("base", 8, nothing, task="a")
    for task in ("b", "c"):
        rows += of_pass("base", 4, nothing, task=task) + of_pass("base", 8, history, task=task)
    (told,) = exponent_table(frame_of(rows)).query("measure == 'prompt_computed'").to_dict("records")
    slopes = [1.848, -0.3219, -0.3219]  # log2(36 / 10), log2(8 / 10)
    assert (told["n_units"], told["over"]) == (3, "tasks")
    assert told["exponent"] == pytest.approx(sum(slopes) / 3, abs=1e-3)
    assert told["low"] < 1 < told["high"]
    assert told["verdict"] == "too few to tell"


def test_two_repeats_are_too_few_to_tell_and_one_count_has_no_slope():
    (told, _) = exponent_table(frame_of([*of_pass("base", 2, nothing), *of_pass("base", 4, nothing)])).to_dict(
        "records"
    )
    assert told["verdict"] == "too few to tell"
    assert pd.isna(told["low"])
    assert told["exponent"] > 1
    assert exponent_table(frame_of(of_pass("base", 4, nothing))).empty


def test_a_pass_with_a_failed_or_a_missing_step_has_no_sums():
    whole = of_pass("base", 4, nothing)
    error = a_step(turn=4, recording="r", task="t", repeat=1, condition="steps=4", error="HTTP 500")
    failed = [*of_pass("base", 4, nothing, repeat=1)[:3], error]
    short = of_pass("base", 4, nothing, repeat=2)[:3]
    (told,) = growth_table(frame_of(whole + failed + short)).to_dict("records")
    assert (told["n_passes"], told["n_broken"]) == (1, 2)
    assert told["prompt_sent"] == 1000


def test_what_was_not_measured_is_null_and_not_a_smaller_sum():
    steps = of_pass("base", 2, nothing)
    unknown = a_step(turn=2, recording="r", task="t", condition="steps=2", prompt_tokens=200)
    (told,) = growth_table(frame_of([steps[0], unknown])).to_dict("records")
    assert told["prompt_sent"] == 300
    for name in ("prompt_computed", "generated", "prefill_share", "kv_bytes", "kv_usage_peak", "computed_vs_base"):
        assert pd.isna(told[name]), name


def test_the_engines_gauge_is_read_while_the_pass_ran():
    steps = frame_of(of_pass("base", 4, nothing))
    gauge = {"source": "engine", "name": "vllm:kv_cache_usage_perc", "unit": "1"}
    samples = frame_of([a_sample(t=0.2, value=0.25, **gauge), a_sample(t=0.4, value=0.5, **gauge),
                        a_sample(t=9.0, value=0.9, **gauge), a_sample(t=0.3, value=99.0)], SampleRecord)  # fmt: skip
    assert growth_table(steps, samples)["kv_usage_peak"].tolist() == [0.5]


def test_rows_of_other_experiments_and_warm_up_are_no_passes():
    rows = [
        a_step(condition="agents=4"),
        a_step(),
        a_step(condition="steps=1", warmup=True),
        a_step(condition="steps="),
    ]
    assert passes(frame_of(rows)).empty
    assert growth_table(frame_of(rows)).empty
    assert exponent_table(frame_of(rows)).empty
    assert growth_table(frame_of([], StepRecord)).empty
