"""How long it will take: guesses first, then what earlier runs here took."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from builders import a_step
from factorials import asked, saved

from labkit.experiments.estimate import Past, estimate, past
from labkit.experiments.forecast import GUESS_STEP_S, Forecast
from labkit.store.runs import RunStore

HERE = {"cpu": {"model": "Fast", "usable_threads": 2}, "memory_bytes": 1}


def test_nothing_known_is_a_guess_and_says_so(tmp_path: Path):
    design = asked(saved(tmp_path, "one", "two"), "base", "prefix", repeats=2).design()
    said = estimate(design, [30.0, 0.0, 30.0, 0.0])
    assert (said.n_steps, said.n_blocks, said.n_past) == (24, 4, 0)
    assert said.starts_s == 60
    assert said.steps_s == 24 * GUESS_STEP_S
    assert said.total_s == said.starts_s + said.steps_s + said.warm_ups_s
    assert "24 steps in 4 blocks" in said.in_words()
    assert "a guess" in said.in_words()


def test_each_arm_has_its_own_pace_and_an_unknown_one_the_mean(tmp_path: Path):
    design = asked(saved(tmp_path, "one"), "base", "prefix", "pd", warm=True).design()
    known = Past(step_s={("base", "cold"): 4.0, ("prefix", "cold"): 2.0, ("prefix", "warm"): 1.0}, n=9)
    said = estimate(design, [0.0] * 3, known)
    base, prefix, pd = 3 * 4.0 + 3 * 4.0, 3 * 2.0 + 3 * 1.0, 6 * (4.0 + 2.0 + 1.0) / 3
    assert said.steps_s == pytest.approx(base + prefix + pd)
    assert "from 9 steps measured here before" in said.in_words()


def test_what_is_done_is_not_counted(tmp_path: Path):
    from dataclasses import replace

    design = asked(saved(tmp_path, "one", "two"), "base", "prefix").design()
    rest = replace(design, done=frozenset({(0, 0), (0, 1), (1, 0)}))
    said = estimate(rest, [30.0, 20.0])
    assert (said.n_steps, said.n_blocks, said.starts_s) == (3, 1, 20.0)


def test_recorded_gaps_are_slept_and_counted(tmp_path: Path):
    from dataclasses import replace

    design = asked(saved(tmp_path, "one"), "base", gaps=True).design()
    (each,) = design.passes(design.blocks[0])
    steps = tuple(replace(step, gap_s=10.0) for step in each.recording.steps)
    slow = replace(each, recording=replace(each.recording, steps=steps))
    said = estimate(replace(design, passes=lambda _: (slow,)), [0.0])
    assert said.steps_s == 3 * GUESS_STEP_S + 30


def ran(store: RunStore, seconds: float, arm: str = "base", *, fingerprint: dict = HERE, **asked: object) -> None:
    """A run of three steps that were sent so many seconds apart, after a warm-up of 7 s."""
    params = {"profile": "cpu-smollm2", "recording": "r", **asked}
    with store.create(str(asked.get("experiment", "replay")), params, fingerprint) as run:
        run.step(a_step(run.id, arm=arm, task="warmup", warmup=True, t_send=0.0, t_end=7.0))
        for step in _apart(run.id, arm, seconds):
            run.step(step)


def _apart(run: str, arm: str, seconds: float) -> Iterable:
    for turn in (1, 2, 3):
        at = 10 + turn * seconds
        yield a_step(run, arm=arm, recording="r", turn=turn, t_send=at, t_end=at + seconds * (0.9 if turn < 3 else 1))


def test_earlier_runs_here_are_learned_from_and_others_are_not(tmp_path: Path):
    store = RunStore(tmp_path / "runs")
    ran(store, 2.0)
    ran(store, 4.0)
    ran(store, 1.0, arm="prefix")
    ran(store, 100.0, fingerprint={"cpu": {"model": "Slow", "usable_threads": 2}, "memory_bytes": 1})
    ran(store, 100.0, profile="other")
    ran(store, 100.0, gaps=True)
    ran(store, 100.0, experiment="interference")
    found = past(store, "cpu-smollm2", HERE, turns=3)
    assert found.n == 9
    assert found.step("base", "cold") == pytest.approx(3.0)  # from send to send, so what lies between is in it
    assert found.step("prefix", "warm") == found.step("prefix", "cold") == pytest.approx(1.0)
    assert found.warm_up("base") == pytest.approx(7.0)
    assert past(store, "cpu-smollm2", HERE, turns=1).n == 3
    assert past(RunStore(tmp_path / "empty"), "cpu-smollm2", HERE, turns=3).n == 0


def test_an_attached_engine_tells_nothing_of_the_fleet_nor_of_another_endpoint(tmp_path: Path):
    def attached(url: str) -> dict:
        return {**HERE, "engines": {"e": {"attached": True, "url": url, "model": "m"}}}

    store = RunStore(tmp_path / "runs")
    ran(store, 9.0, fingerprint=attached("http://h:1"))
    assert past(store, "cpu-smollm2", HERE, turns=3).n == 0
    assert past(store, "cpu-smollm2", attached("http://h:2"), turns=3).n == 0
    assert past(store, "cpu-smollm2", attached("http://h:1"), turns=3).step("base", "cold") == pytest.approx(9.0)


def test_the_time_left_begins_with_what_is_expected_and_goes_on_with_what_is_seen():
    forecast = Forecast({"base": 2, "prefix": 2}, [], {"base": 10.0, "prefix": 1.0})
    assert forecast.eta_s() == 22
    forecast.step_took("base", 6.0)
    assert forecast.eta_s() == 6 + 2


def test_a_resumed_block_warms_up_twice_and_the_break_is_no_warm_up(tmp_path: Path):
    """Whole warm-ups of 3 s and 5 s; one of another block that a kill cut short after its first request; a break."""
    store = RunStore(tmp_path / "runs")
    sent = {0: (0.0, 1.0, 1), 1: (1.0, 3.0, 2), 2: (80000.0, 80004.0, 1), 3: (80004.0, 80005.0, 2)}
    with store.create("factorial", {"profile": "cpu-smollm2"}, HERE) as run:
        for start, end, turn in sent.values():
            run.step(a_step(run.id, task="warmup", warmup=True, turn=turn, t_send=start, t_end=end))
        run.step(a_step(run.id, task="warmup", warmup=True, repeat=1, turn=1, t_send=90000.0, t_end=90000.5))
        run.step(a_step(run.id, recording="r", t_send=90010.0, t_end=90011.0))
    assert past(store, "cpu-smollm2", HERE, turns=3).warm_up("base") == pytest.approx((3.0 + 5.0) / 2)
