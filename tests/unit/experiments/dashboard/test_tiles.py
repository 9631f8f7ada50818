"""Tiles: the newest arm beside the one before, over which steps, better or worse, and a dash where nobody measured."""

from __future__ import annotations

import pytest
from builders import a_sample, a_step
from run_folders import started, write
from synthetic import step

from labkit.experiments.dashboard.live.tile_numbers import tokens_per_second
from labkit.experiments.dashboard.live.tiles import Tile, tiles
from labkit.experiments.dashboard.live.two_arms import two_arms
from labkit.experiments.dashboard.opened import Opened
from labkit.store.runs import RunStore


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))


def made(rows, samples=(), **asked) -> Opened:
    """A run that has ended."""
    writer = write(started(list(dict.fromkeys(row.arm for row in rows)) or ["base"], **asked), rows)
    writer.samples([a_sample(writer.id, **values) for values in samples])
    writer.finish("done", "")
    return Opened(RunStore().open(writer.id))


def in_time(arms=("base", "prefix"), turns: int = 5, **more) -> list:
    return [
        step(arm, turn, t=100.0 * n + 5 * turn, **more) for n, arm in enumerate(arms) for turn in range(1, turns + 1)
    ]


def shown(opened: Opened, *args) -> dict[str, Tile]:
    return {tile.label.split(" (")[0]: tile for tile in tiles(opened, *args).tiles}


def test_the_newest_arm_stands_beside_the_one_before_on_the_same_steps():
    found = tiles(made(in_time()))
    assert (found.arm, found.before) == ("prefix", "base")
    assert found.over == "prefix and base on the same 5 steps"


def test_few_steps_are_told_without_a_verdict():
    """One failed under prefix: four are left, and a colour would say more than they do."""
    rows = in_time()
    rows[-1] = step("prefix", 5, t=rows[-1].t_send, error="HTTP 500", t_end=None)
    found = tiles(made(rows))
    assert found.over == "prefix and base on the same 5 steps, too few to tell"
    assert {tile.verdict for tile in found.tiles} == {""}
    assert found.tiles[0].delta
    assert {tile.verdict for tile in tiles(made(in_time(turns=4))).tiles} == {""}
    assert "better" in {tile.verdict for tile in tiles(made(in_time(turns=5))).tiles}


def test_other_requests_are_told_without_a_verdict():
    rows = [*in_time(("base",)), *(step("prefix", turn, t=100.0 + turn, task="other") for turn in range(1, 7))]
    assert {tile.verdict for tile in tiles(made(rows)).tiles} == {""}


def test_live_agents_have_no_step_in_common():
    """Turns of the same number, of agents that decided themselves what to send."""
    found = tiles(made(in_time(), recording=None, task="t1"))
    assert found.over.startswith("prefix over its last 5 steps, base over its last 5 steps: other requests")
    assert {tile.verdict for tile in found.tiles} == {""}


def test_a_change_has_a_sign_a_verdict_and_the_number_before():
    first = shown(made(in_time()))["First token"]
    assert (first.value, first.delta, first.verdict, first.than) == ("216 ms", "-784 ms", "better", "base 1.00 s")
    hits = shown(made(in_time()))["Cache hit rate"]
    assert hits.label == "Cache hit rate (ceiling 71 %)"
    assert (hits.value, hits.delta, hits.verdict) == ("71 %", "+71.0 points", "better")


def test_while_an_arm_is_at_work_both_are_over_the_steps_that_it_has():
    found = tiles(made([*in_time(("base",), 4), *in_time(("base", "prefix"), 4)[4:6]]))
    assert found.over == "prefix and base on the same 2 steps, too few to tell"


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


def test_gaps_between_chunks_are_no_worse_for_carrying_several_tokens():
    fast = {"t_first_token": 0.5, "t_last": 0.6, "t_end": 0.6}

    def gap(*arms: str) -> Tile:
        rows = [step(arm, n, t=100.0 * at + n, **{name: 100.0 * at + n + t / (at + 1) for name, t in fast.items()})
                for at, arm in enumerate(arms) for n in range(1, 7)]  # fmt: skip
        return shown(made(rows))["Gap between chunks"]

    assert gap("base", "prefix").verdict == "better"
    assert gap("base", "spec").verdict == "less"
    assert gap("spec", "base").verdict == "less"
    assert gap("spec", "prefix+spec").verdict == "better"


def test_a_change_of_nothing_is_not_written_as_a_number():
    level = {"source": "host", "name": "cpu_percent", "value": 50.0}
    busy = [{**level, "t": float(t)} for t in range(200)]
    alike = shown(made(in_time(), samples=busy))["Host CPU"]
    assert (alike.value, alike.delta, alike.verdict) == ("50.0", "", "same")


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
        a_step(arm=arm, turn=turn, t_send=at + 2 * turn, t_end=at + 2 * turn + 2, engine=engine)
        for arm, at, engine in (("base", 0.0, "e1"), ("prefix", 20.0, "e2")) for turn in range(5)
    ]  # fmt: skip
    samples = [
        {**KV, "source": "e1/engine", "t": 5.0, "value": 0.9},
        {**KV, "source": "e1/engine", "t": 25.0, "value": 0.8},  # another engine's
        {**KV, "source": "e2/prefill", "t": 25.0, "value": 0.2},
        {**KV, "source": "e2/decode", "t": 26.0, "value": 0.3},
        {**KV, "source": "e2/decode", "t": 40.0, "value": 0.7},  # later
    ]
    found = shown(made(rows, samples))["KV cache in use"]
    assert (found.value, found.delta, found.verdict, found.than) == ("30 %", "-60.0 points", "less", "base 90 %")


def test_two_arms_on_one_engine_at_once_have_no_kv_cache_of_their_own():
    """By salt they share it; one after the other each has what was read while it served."""

    def rows(apart: float) -> list:
        return [a_step(arm=arm, agent=arm, t_send=at, t_end=at + 4.0, engine="e1")
                for arm, at in (("base", 0.0), ("prefix", apart))]  # fmt: skip

    samples = [{**KV, "source": "e1/engine", "t": t, "value": t / 10} for t in (1.0, 3.0, 5.0, 7.0)]
    met = shown(made(rows(2.0), samples))["KV cache in use"]
    assert (met.value, met.than) == ("–", "")
    assert "another arm used it meanwhile" in met.help
    apart = shown(made(rows(4.5), samples))["KV cache in use"]
    assert (apart.value, apart.than) == ("70 %", "base 30 %")


def test_the_machine_is_read_while_an_arms_own_steps_ran():
    """Laps in turns: base, prefix, base, prefix, with pauses; another arm's seconds and nobody's are not its own."""
    rows = [a_step(arm=arm, turn=turn, repeat=lap, t_send=at + 4 * turn, t_end=at + 4 * turn + 3)
            for lap, arm, at in ((0, "base", 0.0), (0, "prefix", 20.0), (1, "base", 40.0), (1, "prefix", 60.0))
            for turn in range(4)]  # fmt: skip
    busy = {"base": 90.0, "prefix": 30.0}

    def of(t: float) -> float:
        return next((busy[row.arm] for row in rows if row.t_send <= t <= row.t_end), 0.0)

    cpu = [{"source": "host", "name": "cpu_percent", "t": t, "value": of(t)} for t in (n / 2 for n in range(160))]
    found = shown(made(rows, cpu))["Host CPU"]
    assert (found.value, found.than) == ("30.0", "base 90.0")


def test_the_machine_is_its_gpus_where_it_tells_their_power_else_its_cpus():
    rows = [a_step(t_send=0.0, t_end=9.0)]
    cpu = [{"source": "host", "name": "cpu_percent", "t": t, "value": v} for t, v in ((1.0, 40.0), (2.0, 60.0))]
    assert shown(made(rows, cpu))["Host CPU"].value == "50.0"
    gpus = [{"source": "amdsmi", "name": f"gpu{n}/power", "unit": "W", "t": 1.0, "value": 300.0} for n in range(2)]
    assert shown(made(rows, [*cpu, *gpus]))["GPU power"].value == "600"


def test_a_run_beside_is_the_arm_before():
    first = made(in_time(("prefix",)))
    found = tiles(made(in_time(("prefix+spec",))), first)
    assert (found.before, found.over) == ("prefix", "prefix+spec and prefix on the same 5 steps")


def test_no_step_no_tiles():
    assert tiles(made([])).tiles == ()
    assert two_arms(made([])) is None


def test_failed_steps_break_nothing():
    found = shown(made([a_step(turn=1, t_end=None, error="HTTP 500")]))
    assert found["Whole step"].value == "–"
