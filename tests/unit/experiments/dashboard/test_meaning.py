"""What a run means, in sentences whose numbers were planted; and what is said where nothing can be told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from builders import a_step
from planted import planted
from run_folders import ended, started, write
from synthetic import failed, steps

from labkit.experiments.dashboard.compare.compare import gains, metrics_of, scope
from labkit.experiments.dashboard.compare.curves import curves, growth
from labkit.experiments.dashboard.compare.doubts import doubts
from labkit.experiments.dashboard.compare.gain_pictures import gain_pictures, gain_rows
from labkit.experiments.dashboard.compare.meaning import meaning
from labkit.experiments.dashboard.opened import Opened
from labkit.store.runs import RunStore

PAIR = ("base", "prefix")
ALONE = {"prefix_caching": 2.0}


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))


def opened(run_id: str) -> Opened:
    return Opened(RunStore().open(run_id))


def told(run_id: str, metric: str = "e2e_s"):
    run = opened(run_id)
    of = scope(run)
    found = gains(run, of.passes[0].cache, of.passes[0].condition) if of.passes else None
    return meaning(of, found, metric, doubts(run))


def words(said) -> str:
    return "\n".join([said.finding, said.caution, *(f"{doubt.words} {doubt.detail}" for doubt in said.doubts)])


def test_it_says_what_pays_and_by_how_much_and_on_what_evidence():
    said = told(ended(planted(PAIR, gains=ALONE, repeats=4, cached_tokens=0), seed=1))
    assert said.told
    assert said.finding == (
        "Prefix caching pays: answers came 2.00 times as fast (2.00 to 2.00), "
        "on 10 requests of 5 tasks, each sent 4 times."
    )
    assert said.caution.startswith("It holds for these requests on this machine")


def test_a_factorial_names_every_layer_and_the_best_combination():
    said = told(ended(planted(), seed=1))
    assert said.finding.startswith(
        "Prefix caching pays: answers came 2.00 times as fast (2.00 to 2.00); splitting prefill from decode costs: "
        "answers took 1.25 times as long (1.25 to 1.25); speculation pays: 1.25 times as fast (1.25 to 1.25); best was "
    )
    assert said.finding.endswith(", on 10 requests of 5 tasks, each sent 2 times.")
    assert "what a split gains on two machines cannot show" in words(said)


@pytest.mark.parametrize(
    ("metric", "said"),
    [("ttft_s", "the first word came 2.00 times as soon"), ("tokens_per_s", "text was written 2.00 times as fast"),
     ("prompt_computed", "2.00 times less of the prompts had to be read")],
)  # fmt: skip
def test_each_measure_has_words_of_its_own(metric, said):
    assert said in told(ended(planted(PAIR, gains=ALONE, repeats=4), seed=1), metric).finding


def test_one_quick_pass_is_too_few_and_says_what_it_would_take():
    said = told(ended(planted(PAIR, tasks=1, turns=3, repeats=1, gains=ALONE)))
    assert not said.told
    assert said.finding == (
        "Too few to tell whether prefix caching pays: with prefix caching answers came 2.00 times as fast, "
        "on 3 requests of one task only, each sent once."
    )
    assert "takes 5 tasks, or one task sent 3 times" in said.caution
    assert "All requests are of one task" in words(said)
    assert "fixed order" in words(said)


def test_a_few_tasks_are_too_few_though_there_is_an_interval():
    said = told(ended(planted(PAIR, tasks=3, repeats=4, gains=ALONE), seed=1))
    assert not said.told
    assert "that is only 3 tasks; it takes 5" in said.caution


def test_repeats_on_one_start_are_no_evidence():
    shared = [replace(step, engine=step.arm) for step in planted(PAIR, gains=ALONE, repeats=3)]
    said = told(ended(shared, seed=1))
    assert not said.told
    assert "all 3 repeats ran on one start of an engine, and a slow start would look the same" in said.caution


def test_what_chance_hides_is_said_with_the_gain_that_would_have_shown():
    dice = np.random.default_rng(3)
    made = planted(PAIR, gains={"prefix_caching": 1.01}, repeats=4, noise=lambda: dice.normal(0, 0.4))
    said = told(ended(made, seed=1))
    assert not said.told
    assert "times would have been missed" in said.caution


def test_a_gain_that_nobody_would_notice_is_not_said_to_pay():
    said = told(ended(planted(PAIR, gains={"prefix_caching": 1.02}, repeats=4), seed=1))
    assert said.finding.startswith("Prefix caching changes little: answers came 1.02 times as fast (1.02 to 1.02), on ")


def test_one_arm_has_nothing_to_be_compared_with():
    said = told(ended(planted(("prefix",), tasks=1)))
    assert said.finding == "Only prefix caching was measured (4 requests), so there is nothing to compare it with."
    assert "pick a second run" in said.caution


def test_a_run_without_base_is_still_told_by_its_layer():
    said = told(ended(planted(("prefix", "prefix+spec"), gains={"speculation": 1.25}, repeats=4), seed=1))
    assert said.finding.startswith("Speculation pays: answers came 1.25 times as fast")


def test_a_failed_run_is_told_in_its_own_words():
    said = told(ended([], "failed", "the engine did not start"))
    assert said.finding == "Nothing was measured in this run, so it answers nothing."
    assert said.caution.startswith("The run is failed: the engine did not start.")
    assert said.page == "live"


def test_a_run_whose_every_request_failed_says_that_nothing_can_be_told():
    said = told(ended([failed(arm, turn) for arm in PAIR for turn in (1, 2)], "failed", "all failed"))
    assert not said.told
    assert "says nothing" in said.finding
    assert "4 of 4 requests failed" in words(said)


def test_a_stopped_run_and_a_lost_engine_are_doubts():
    writer = write(started(["base", "prefix", "pd"]), planted(PAIR, tasks=1))
    writer.event("serving", arm="pd", repeat=0)
    writer.event("engine_died", arm="pd", repeat=0, message="out of memory", hint="", log_tail=[])
    writer.finish("partial", "pd not measured")
    said = words(told(writer.id))
    assert "The run is incomplete" in said
    assert "The engine died under pd, so that setting is not measured, or not to its end. out of memory" in said


def test_a_busy_machine_and_drift_are_doubts_of_times_alone():
    slow = [replace(s, repeat=2, t_end=s.t_end * 2) for s in planted(("base",), repeats=1, gains=ALONE)]
    writer = write(started(PAIR, repeats=2, drift_check=True, seed=1), [*planted(PAIR, repeats=2, gains=ALONE), *slow])
    writer.event("bystanders", arm="base", repeat=0, cores=1.1)
    writer.event("bystanders", arm="prefix", repeat=0, cores=0.0)
    writer.finish("done", "")
    said = words(told(writer.id))
    assert "Other programs kept up to 1.10 processor cores busy in 1 of 2 parts of the run" in said
    assert "Base, measured again at the end, was 2.00 times slower" in said
    assert "Other programs" not in words(told(writer.id, "prompt_computed"))


def test_steps_after_a_toggle_are_compared_with_nothing():
    toggled = [replace(step, condition="toggled from base") for step in steps(("prefix",), turns=3)]
    run = ended([*steps(("base",), turns=3), *toggled])
    said = told(run)
    assert said.finding == "Base and prefix were measured, but on no request in common, so nothing can be compared."
    assert "3 steps followed a toggle in mid-run" in words(said)


def test_under_load_nothing_is_paired():
    writer = write(started(PAIR), [replace(s, condition="agents=2") for s in steps(PAIR, turns=2)])
    writer.event("window", arm="base", repeat=0, condition="agents=2", agents=2, start=0.0, end=1.0)
    writer.finish("done", "")
    said = told(writer.id)
    assert said.page == "capacity"
    assert "each agent took its requests as they came" in said.finding


def test_live_agents_are_told_by_what_they_solved():
    writer = write(started(["prefix"]), steps(("prefix",), turns=2))
    writer.event("outcome", arm="prefix", task="t", reached=True, stop_reason="finished", steps=2, seconds=3.0)
    writer.finish("done", "")
    said = told(writer.id)
    assert said.finding == "Here agents worked live, and each went its own way: prefix solved 1 of 1 attempt."
    assert said.page == "trajectory"


def test_drafters_are_told_by_their_own_gain():
    def made(arm, condition, seconds):
        values = {"t_send": 0.0, "t_first_token": seconds / 2, "t_last": seconds, "t_end": seconds}
        return [a_step(arm=arm, condition=condition, turn=turn, **values) for turn in range(1, 7)]

    said = told(ended([*made("prefix", "method=none", 2.0), *made("prefix+spec", "method=ngram", 1.0)]))
    assert "with the drafter ngram answers came 2.00 times as fast" in said.finding
    assert said.page == "layers"


def test_passes_are_listed_most_telling_first_and_curves_are_of_them_alone():
    cut = [replace(s, condition=f"steps={n}") for n in (1, 4) for s in steps(PAIR, turns=n)]
    run = opened(ended(cut))
    of = scope(run)
    assert [each.condition for each in of.passes] == ["steps=4", "steps=1"]
    assert [len(line.turns) for line in curves(run, "cold", "steps=1").turns[0].lines] == [1, 1]
    assert [len(info.lines) for info in growth(run)] == [2, 2]


def test_figures_that_say_the_same_are_drawn_once():
    run = opened(ended(planted(PAIR, gains=ALONE)))
    two = gains(run, "cold", "")
    shown = gain_pictures(two, "e2e_s")
    assert shown.layers
    assert (shown.arms, shown.interactions) == (None, None)
    assert metrics_of(*two) == ["e2e_s", "ttft_s", "itl_p99_s", "tokens_per_s", "prompt_computed"]
    whole = gain_pictures(gains(opened(ended(planted(tasks=2, turns=1))), "cold", ""), "e2e_s")
    assert len(whole.arms.panels[0].marks) == 7
    assert len(whole.interactions.panels) == 3
    rows = gain_rows(two, "e2e_s")
    assert (rows[0]["of"], rows[0]["gain"], rows[-1]["of"]) == ("prefix, averaged", "2.00x", "prefix, against base")
