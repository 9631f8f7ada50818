"""Tiles: the newest arm beside the one before, over which steps, better or worse, and a dash where nobody measured."""

from __future__ import annotations

import pytest
from builders import a_sample, a_step
from run_folders import started, write
from synthetic import step

from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.dashboard.tile_numbers import tokens_per_second
from labkit.experiments.dashboard.tiles import Tile, tiles
from labkit.experiments.dashboard.two_arms import two_arms
from labkit.store.runs import RunStore


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))


def made(rows, samples=()) -> Opened:
    """A run that has ended."""
    writer = write(started(list(dict.fromkeys(row.arm for row in rows)) or ["base"]), rows)
    writer.samples([a_sample(writer.id, **values) for values in samples])
    writer.finish("done", "")
    return Opened(RunStore().open(writer.id))


def in_time(arms=("base", "prefix"), turns: int = 4, **more) -> list:
    return [
        step(arm, turn, t=100.0 * n + 5 * turn, **more) for n, arm in enumerate(arms) for turn in range(1, turns + 1)
    ]


def shown(opened: Opened, *args) -> dict[str, Tile]:
    return {tile.label.split(" (")[0]: tile for tile in tiles(opened, *args).tiles}


def test_the_newest_arm_stands_beside_the_one_before_on_the_same_steps():
    found = tiles(made(in_time()))
    assert (found.arm, found.before) == ("prefix", "base")
    assert found.over == "prefix and base on the same 4 steps"


def test_a_change_has_a_sign_a_verdict_and_the_number_before():
    first = shown(made(in_time()))["First token"]
    assert (first.value, first.delta, first.verdict, first.than) == ("212 ms", "-688 ms", "better", "base 900 ms")
    hits = shown(made(in_time()))["Cache hit rate"]
    assert hits.label == "Cache hit rate (ceiling 66 %)"
    assert (hits.value, hits.delta, hits.verdict) == ("66 %", "+66.0 points", "better")


def test_while_an_arm_is_at_work_both_are_over_the_steps_that_it_has():
    found = tiles(made([*in_time(("base",), 4), *in_time(("base", "prefix"), 4)[4:6]]))
    assert found.over == "prefix and base on the same 2 steps"


def test_after_a_toggle_each_is_over_its_own_steps_and_says_so():
    toggled = [step("prefix+spec", turn, t=500.0 + turn, condition="toggled from prefix") for turn in (3, 4)]
    found = tiles(made([*in_time(("prefix",), 2), *toggled]))
    assert found.over.startswith("prefix+spec over its last 2 steps, prefix over its last 2 steps: other requests")


def test_only_the_last_steps_count():
    rows = [a_step(turn=n, t_send=10.0 * n, t_end=10.0 * n + (9.0 if n < 30 else 1.0)) for n in range(60)]
    assert shown(made(rows))["Whole step"].value == "1.00 s"


def test_speculation_off_is_a_dash_that_says_why():
    found = shown(made(in_time()))["Tokens a round"]
    assert (found.value, found.delta) == ("–", "")
    assert "prefix does not speculate" in found.help
    on = shown(made(in_time(("base", "spec"), drafts=10)))["Tokens a round"]
    assert (on.value, on.label, on.delta) == ("4.00", "Tokens a round (75 % accepted)", "")


def test_a_gap_that_is_not_measured_is_a_dash():
    found = shown(made([a_step(turn=1)]))
    assert found["Gap between chunks"].value == "–"
    assert "stream of two chunks" in found["Gap between chunks"].help
    assert found["First token"].value == "–"


def test_gaps_are_those_of_the_arms_own_chunks():
    """Base and spec overlap in nothing: twenty chunks in 2 s, and in 1 s."""
    found = shown(made(in_time(("base", "spec"))))["Gap between chunks"]
    assert (found.value, found.than) == ("52.6 ms", "base 105 ms")


def test_tokens_a_second_are_over_the_time_with_a_request_under_way():
    """Two at once for 2 s, then a pause, then one for 1 s: 60 tokens in 3 s."""
    rows = [
        a_step(agent="0", t_send=0.0, t_end=2.0, completion_tokens=20),
        a_step(agent="1", t_send=0.0, t_end=2.0, completion_tokens=20),
        a_step(agent="0", turn=2, t_send=10.0, t_end=11.0, completion_tokens=20),
    ]
    opened = made(rows)
    assert tokens_per_second(opened.steps) == pytest.approx(20.0)
    assert shown(opened)["Tokens a second"].value == "20.0"


KV = {"name": "vllm:kv_cache_usage_perc", "unit": "1"}


def test_the_kv_cache_is_that_of_the_arms_engine_while_it_served():
    rows = [
        a_step(arm="base", t_send=0.0, t_end=9.0, engine="e1"),
        a_step(arm="prefix", t_send=20.0, t_end=29.0, engine="e2"),
    ]
    samples = [
        {**KV, "source": "e1/engine", "t": 5.0, "value": 0.9},
        {**KV, "source": "e1/engine", "t": 25.0, "value": 0.8},  # another engine's
        {**KV, "source": "e2/prefill", "t": 25.0, "value": 0.2},
        {**KV, "source": "e2/decode", "t": 26.0, "value": 0.3},
        {**KV, "source": "e2/decode", "t": 40.0, "value": 0.7},  # later
    ]
    found = shown(made(rows, samples))["KV cache in use"]
    assert (found.value, found.delta, found.verdict, found.than) == ("30 %", "-60.0 points", "less", "base 90 %")


def test_the_machine_is_its_gpus_where_it_tells_their_power_else_its_cpus():
    rows = [a_step(t_send=0.0, t_end=9.0)]
    cpu = [{"source": "host", "name": "cpu_percent", "t": t, "value": v} for t, v in ((1.0, 40.0), (2.0, 60.0))]
    assert shown(made(rows, cpu))["Host CPU"].value == "50.0"
    gpus = [{"source": "amdsmi", "name": f"gpu{n}/power", "unit": "W", "t": 1.0, "value": 300.0} for n in range(2)]
    assert shown(made(rows, [*cpu, *gpus]))["GPU power"].value == "600"


def test_a_run_beside_is_the_arm_before():
    first = made(in_time(("prefix",)))
    found = tiles(made(in_time(("prefix+spec",))), first)
    assert (found.before, found.over) == ("prefix", "prefix+spec and prefix on the same 4 steps")


def test_no_step_no_tiles():
    assert tiles(made([])).tiles == ()
    assert two_arms(made([])) is None


def test_failed_steps_break_nothing():
    found = shown(made([a_step(turn=1, t_end=None, error="HTTP 500")]))
    assert found["Whole step"].value == "–"
