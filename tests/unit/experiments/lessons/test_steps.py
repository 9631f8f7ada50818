"""The lesson on an agent's steps over runs whose every number can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
import pytest
from builders import a_sample, a_step, frame_of

from labkit.core.chat import Usage
from labkit.core.records import SampleRecord, StepRecord
from labkit.experiments.lessons import steps, steps_machine, steps_told
from labkit.plots.steps_ledger import steps_ledger_info
from labkit.store.runs import Run, RunStore
from labkit.traffic.recording import RecordedStep, Recording, RecordingHeader

COUNTS = (1, 5, 10)
BUSY = {"base": 100.0, "prefix": 95.0}
IN_USE = {"base": 0.050, "prefix": 0.052}
MIB = 2**20
Cached = Callable[[int], int]


def nothing(turn: int) -> int:
    return 0


def all_before(turn: int) -> int:
    return 100 * (turn - 1)


def cut(arm: str, count: int, start: float, cached: Cached, task: str = "t") -> list[StepRecord]:
    """Prompts 100, 200, 300...: a computed token takes a millisecond, the ten of a reply 0.2 s in all."""
    made, t = [], start
    for turn in range(1, count + 1):
        prefill = (100 * turn - cached(turn)) / 1000
        made.append(
            a_step(
                arm=arm, task=task, turn=turn, condition=f"steps={count}", recording=task, t_send=t,
                t_first_token=t + prefill, t_last=t + prefill + 0.2, t_end=t + prefill + 0.2, prompt_tokens=100 * turn,
                cached_tokens=cached(turn), completion_tokens=10, queue_s=0.0, prefill_s=prefill, decode_s=0.2,
                mode="pinned",
            )
        )  # fmt: skip
        t += prefill + 0.2
    return made


def while_it_ran(made: Sequence[StepRecord]) -> list[SampleRecord]:
    """Processor and gauge, twice a second from the first send to a little before the end."""
    arm, start, end = made[0].arm, made[0].t_send, float(made[-1].t_end or 0)
    times = [start + 0.5 * n for n in range(int((end - start - 0.2) / 0.5) + 1)]
    gauge = {"source": f"{arm}-0/engine", "name": "vllm:kv_cache_usage_perc", "unit": "1", "value": IN_USE[arm]}
    cpu = [a_sample(t=t, name="cpu_percent", value=BUSY[arm]) for t in times]
    return [*cpu, *(a_sample(t=t, **gauge) for t in times)]


def a_run(
    folder: Path, cached: Cached = all_before, counts: Sequence[int] = COUNTS, tasks: Sequence[str] = ("t",),
    sampled: bool = True,
) -> Run:  # fmt: skip
    store = RunStore(folder)
    with store.create("steps", {}, {"kv_bytes_per_token": MIB}) as writer:
        start = 0.0
        for task in tasks:
            for arm, hits in (("base", nothing), ("prefix", cached)):
                for count in counts:
                    made = cut(arm, count, start, hits, task)
                    start = float(made[-1].t_end or 0) + 1
                    _write(writer, made, while_it_ran(made) if sampled else [])
    return store.open(writer.id)


def _write(writer, made: Sequence[StepRecord], samples: Sequence[SampleRecord]) -> None:
    for step in made:
        writer.step(StepRecord(**{**step.to_dict(), "run": writer.id}), [])
    writer.samples([SampleRecord(**{**sample.to_dict(), "run": writer.id}) for sample in samples])


def recording(first: int = 100) -> Recording:
    made = tuple(
        RecordedStep(
            turn=turn, kind="act", append=[{"role": "user", "content": "x"}], reply={"role": "assistant"},
            usage=Usage(prompt_tokens=first + 100 * (turn - 1)),
        )
        for turn in range(1, 11)
    )  # fmt: skip
    return Recording(header=RecordingHeader(name="t", task="t", decided_by="s", model="m", tools=[]), steps=made)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return a_run(tmp_path)


def test_one_table_has_calls_tokens_time_memory_and_what_was_busy(run: Run):
    table = steps.cost_table(run)
    assert list(table.columns) == [(arm, count) for arm in ("base", "prefix") for count in COUNTS]
    base = table["base", 10].to_dict()
    assert base == {
        "passes (n)": "1", "prompt tokens sent": "5,500", "prompt tokens computed": "5,500", "tokens generated": "100",
        "time, all calls": "7.50 s", "time, a call": "750 ms", "time to first token, a call": "550 ms",
        "prefill, share of the time": "73 %", "longest context, tokens": "1,010", "KV cache of it": "1,010 MiB",
        "KV cache in use, peak": "5.0 %", "processor busy, mean": "100 %", "GPU power, mean": "–",
    }  # fmt: skip
    assert table.loc["prompt tokens computed", ("prefix", 10)] == "1,000"
    assert table.loc["processor busy, mean", ("base", 1)] == "–", "no reading lies within 0.3 s"


def test_a_run_that_cut_no_agent_has_an_empty_table(tmp_path: Path):
    store = RunStore(tmp_path)
    with store.create("replay", {}, {}) as writer:
        writer.step(a_step(writer.id), [])
    assert steps.cost_table(store.open(writer.id)).empty
    assert steps.exponents_shown([store.open(writer.id).steps()]).empty


def test_the_sum_of_prompts_is_held_against_the_recording_to_the_token(run: Run):
    assert steps_told.tokens_as_predicted(run, recording()) == (
        True,
        "base computed 5,500 prompt tokens in 10 steps, where 5,500 were predicted; "
        "3 of 3 counts of steps agree to the token (n = 1 pass each)",
    )
    other = steps_told.tokens_as_predicted(run, recording(first=101))
    assert other.holds is False
    assert "where 5,510 were predicted; 0 of 3 counts" in other.saw


def test_a_cache_leaves_the_last_prompt_or_it_is_said_that_it_does_not(run: Run, tmp_path: Path):
    assert steps_told.cache_leaves(run) == (
        True,
        "at 10 steps prefix computed 1,000 prompt tokens where base computed 5,500: 18 % of them, and 1.00x the last "
        "prompt of 1,000 (n = 1 pass each)",
    )
    lossy = steps_told.cache_leaves(a_run(tmp_path / "lossy", lambda turn: all_before(turn) // 2))
    assert lossy.holds is False
    assert "prefix computed 3,250" in lossy.saw
    assert steps_told.cache_leaves(a_run(tmp_path / "short", counts=(1, 3))).holds is None


def test_what_makes_a_call_dearer_is_prefill_and_with_caching_decode_is_left(run: Run):
    ledger = steps_ledger_info(run.steps())
    dearer = steps_told.prefill_makes_it(ledger)
    assert dearer.holds is True
    assert "takes 300 ms at 1 step and 750 ms at 10 (n = 10 calls); all of the difference is prefill" in dearer.saw
    assert steps_told.decode_is_left(ledger) == (
        True,
        "prefill is 73 % under base and 33 % under prefix of a call's time at 10 steps, and decode is 67 % under "
        "prefix (n = 10 calls in each arm)",
    )
    parts = steps.seconds_by_part(ledger)
    assert parts.loc["prefill", ("base", 10)] == "550 ms"
    assert parts.loc["queue", ("base", 10)] == "0.00 ms"
    assert set(parts.loc["KV transfer"]) == {"–"}
    assert "client_lag" not in parts.index


def test_calls_that_get_no_dearer_and_a_cache_that_finds_nothing_are_surprises(tmp_path: Path):
    store = RunStore(tmp_path)
    with store.create("steps", {}, {}) as writer:
        for count in COUNTS:
            _write(writer, cut("base", count, 0.0, lambda turn: 100 * (turn - 1)), [])
    flat = steps_told.prefill_makes_it(steps_ledger_info(store.open(writer.id).steps()))
    assert flat.holds is False
    assert "does not get dearer" in flat.saw
    useless = steps_told.decode_is_left(steps_ledger_info(a_run(tmp_path / "useless", nothing).steps()))
    assert useless.holds is False


def test_ten_steps_are_more_than_ten_questions_unless_a_cache_finds_the_history(run: Run, tmp_path: Path):
    assert steps_told.worth_in_questions(run) == (
        True,
        "beside a single step, 10 steps computed 55.0x the prompt tokens in 25.0x the time under base and 10.0x the "
        "prompt tokens in 10.0x the time under prefix; so in seconds 10 steps are worth 10.0 questions even with "
        "the cache (n = 1 pass each)",
    )
    assert steps_told.worth_in_questions(a_run(tmp_path / "useless", nothing)).holds is False
    assert steps_told.worth_in_questions(a_run(tmp_path / "no one", counts=(5, 10))).holds is None


def test_one_pass_has_no_interval_and_six_tasks_have(run: Run, tmp_path: Path):
    one = steps_told.grows_faster(run.steps(), "e2e_s")
    assert one.holds is None
    assert one.saw.startswith("with the steps (1, 5, 10) time grew to the power of 1.")
    assert one.saw.endswith("(n = 1 pass of one task, 1 start of an engine)")
    six = a_run(tmp_path / "six", tasks="abcdef", counts=(1, 2, 5))
    tokens = steps_told.grows_faster(six.steps(), "prompt_computed")
    assert tokens.holds is True
    assert "1.69 (95 % interval 1.69 to 1.69) under base and 1.00" in tokens.saw
    assert "n = 6 tasks" in tokens.saw
    assert steps_told.grows_faster(six.steps(), "e2e_s").holds is None, "one start of an engine"
    table = steps.exponents_shown([run.steps(), six.steps()])
    assert table.loc[("6 tasks", "base", "prompt tokens computed"), "95 % interval"] == "1.69 to 1.69"
    assert table.loc[("1 pass of one task", "base", "time"), "it grows"] == "too few to tell"


def test_an_interval_below_one_is_a_surprise_and_one_that_holds_it_is_open(tmp_path: Path):
    tasks = []
    for task in "abcdef":
        for count in (1, 2, 5):
            tasks += cut("base", count, 0.0, lambda turn: 100 * turn - (100 if turn == 1 else 10), task)
    assert steps_told.grows_faster(frame_of(tasks), "prompt_computed").holds is False
    in_step = a_run(tmp_path, tasks="abcdef", counts=(1, 2, 5)).steps()
    alone = in_step[in_step["arm"] == "prefix"].assign(arm="base")
    assert steps_told.grows_faster(alone, "prompt_computed").holds is None


def test_memory_follows_the_longest_context_and_a_full_processor_tells_nothing(run: Run):
    assert steps_machine.memory_follows_the_context(run) == (
        True,
        "from 1 step to 10 base computed 55.0x as many tokens, and its longest context grew 9.18x to 1,010 tokens, "
        "1,010 MiB of KV cache; of the engine's KV cache 5.0 % under base and 5.2 % under prefix was in use at most "
        "(n = 1 pass each)",
    )
    assert steps_machine.busy_whatever_it_does(run) == (
        True,
        "at 10 steps the processor was 100 % busy under base and 95 % busy under prefix, while base computed 5.50x as "
        "many prompt tokens (n = 14 and 5 readings)",
    )


def test_a_handful_of_readings_tells_nothing(tmp_path: Path):
    short = a_run(tmp_path, counts=(1, 5))
    assert steps_machine.memory_follows_the_context(short).holds is None
    busy = steps_machine.busy_whatever_it_does(short)
    assert busy.holds is None
    assert "(n = 4 and 2 readings)" in busy.saw


def test_what_was_not_sampled_is_too_few_to_tell(tmp_path: Path):
    bare = a_run(tmp_path, sampled=False)
    memory = steps_machine.memory_follows_the_context(bare)
    assert memory.holds is None
    assert "was not sampled" in memory.saw
    assert steps_machine.busy_whatever_it_does(bare).holds is None
    assert steps.cost_table(bare).loc["processor busy, mean", ("base", 10)] == "–"


def test_the_longest_cut_is_one_that_both_arms_have_whole(tmp_path: Path):
    store = RunStore(tmp_path)
    with store.create("steps", {}, {}) as writer:
        for arm, counts in (("base", (1, 5, 10)), ("prefix", (1, 5))):
            for count in counts:
                _write(writer, cut(arm, count, 0.0, nothing), [])
        _write(writer, cut("prefix", 10, 0.0, nothing)[:4], [])
    run = store.open(writer.id)
    assert steps.longest(run)["condition"].unique().tolist() == ["steps=5"]
    assert "at 5 steps" in steps_told.cache_leaves(run).saw
    assert len(steps.longest(run)) == 10


def test_without_base_every_prediction_is_open(tmp_path: Path):
    store = RunStore(tmp_path)
    with store.create("steps", {}, {}) as writer:
        for count in COUNTS:
            _write(writer, cut("prefix", count, 0.0, all_before), [])
    run = store.open(writer.id)
    ledger = steps_ledger_info(run.steps())
    told = [
        steps_told.tokens_as_predicted(run, recording()), steps_told.cache_leaves(run),
        steps_told.worth_in_questions(run),
        steps_told.prefill_makes_it(ledger), steps_told.decode_is_left(ledger),
        steps_told.grows_faster(run.steps(), "e2e_s"),
        steps_machine.memory_follows_the_context(run), steps_machine.busy_whatever_it_does(run),
    ]  # fmt: skip
    assert [each.holds for each in told] == [None] * 8
    assert all(pd.notna(each.saw) and each.saw for each in told)
