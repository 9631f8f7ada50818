"""What a run found, in words: true to the numbers, honest about n, and silent where there is nothing to say."""

from __future__ import annotations

import pytest
from builders import a_step
from run_folders import write
from synthetic import failed, step, steps

from labkit.core.conditions import of_toggled
from labkit.experiments.dashboard.layers.gain import twin_gain
from labkit.experiments.dashboard.live.finding import findings
from labkit.experiments.dashboard.opened import Opened
from labkit.store.runs import RunStore


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))


def made(rows, experiment: str = "live", events=(), **asked) -> Opened:
    """A run that has ended."""
    params = {"profile": "p", "recording": "tiny", "arms": list(dict.fromkeys(row.arm for row in rows)), **asked}
    writer = write(RunStore().create(experiment, params, {}), rows)
    for kind, about in events:
        writer.event(kind, **about)
    writer.finish("done", "")
    return Opened(RunStore().open(writer.id))


def in_time(arms=("base", "prefix"), turns: int = 6, **more) -> list:
    """Each arm after the one before."""
    return [
        step(arm, turn, t=100.0 * n + 5 * turn, **more) for n, arm in enumerate(arms) for turn in range(1, turns + 1)
    ]


def test_prefix_caching_in_one_sentence_with_its_reasons():
    """Base: 600 + 800 + ... + 1600 tokens at 1 ms and 2 s of decode a step; prefix computes what is new."""
    [found] = findings(made(in_time()))
    base = sum(0.4 + 0.2 * turn + 2 for turn in range(1, 7))
    prefix = base - sum((200 + 200 * turn) - (400 + 200 * turn) % 32 for turn in range(2, 7)) / 1000
    assert (
        found.said
        == f"Prefix caching made these 6 steps {base / prefix:.2f}x faster ({base:.1f} s → {prefix:.1f} s): a first "
        "look, one pass."
    )
    assert found.ratio == pytest.approx(base / prefix)
    assert found.because[0].startswith("75 % of the prompt tokens came from the cache (at best 75 %)")
    assert found.because[1] == "First token after 212 ms in place of 1.10 s (median)."
    assert found.but == (
        "One pass has no interval: more laps would tell whether it holds.",
        "The engine told no times of single requests: lanes show what the client saw.",
    )
    assert found.tone == "faster"


def test_the_cost_is_told_as_plainly_as_the_gain():
    slow = [a_step(arm=arm, turn=n, t_send=10.0 * n + at, t_end=10.0 * n + at + took, prefill_s=1.0, decode_s=1.0)
            for arm, at, took in (("base", 0.0, 2.0), ("pd", 100.0, 3.0)) for n in range(5)]  # fmt: skip
    [found] = findings(made(slow))
    assert (
        found.said
        == "The prefill/decode split made these 5 steps 1.50x slower (10.0 s → 15.0 s): a first look, one pass."
    )
    assert found.tone == "slower"


def test_a_small_difference_is_called_none():
    alike = [a_step(arm=arm, turn=n, t_send=10.0 * n, t_end=10.0 * n + took)
             for arm, took in (("base", 2.0), ("spec", 1.95)) for n in range(5)]  # fmt: skip
    [found] = findings(made(alike))
    assert (
        found.said
        == "Speculation left the time of these 5 steps about the same (10.0 s → 9.75 s): a first look, one pass."
    )
    assert found.tone == "same"


def test_few_steps_are_too_few_to_tell():
    [found] = findings(made(in_time(turns=2)))
    assert found.said.endswith("): too few to tell.")
    assert "2 steps: too few to tell." in found.but
    assert found.tone == "unknown"


def test_speculation_tells_its_drafts_and_the_time_of_a_token():
    [found] = findings(made(in_time(("base", "spec"), drafts=10)))
    assert found.because[0] == "75 % of the drafted tokens were accepted, 4.00 tokens a round."
    assert found.because[1] == "52.6 ms for each further token in place of 105 ms (median)."


@pytest.mark.parametrize(
    ("arms", "subject"),
    [(("prefix", "prefix+spec"), "Adding speculation to prefix"), (("prefix", "pd"), "pd in place of prefix"),
     (("base", "all"), "All three layers together"),
     (("base", "prefix+pd"), "Prefix caching and the prefill/decode split")],
)  # fmt: skip
def test_what_differs_is_named(arms, subject):
    [found] = findings(made(in_time(arms)))
    assert found.said.startswith(f"{subject} ")


def test_only_common_steps_are_spoken_of_and_what_failed_is_said():
    rows = [*in_time(("base",), 6), failed("prefix", 1), *in_time(("base", "prefix"), 6)[7:]]
    [found] = findings(made(rows))
    assert found.n == 5
    assert "Failed, and in no pair: 1 under prefix." in found.but


def test_toggled_steps_are_in_no_pair():
    toggled = [step("base", 1, t=300.0, repeat=1, condition=of_toggled("prefix"))]
    [found] = findings(made([*in_time(), *toggled]))
    assert found.n == 6
    assert any(said.startswith("1 step was served by another arm than planned") for said in found.but)


def test_an_arm_that_was_only_toggled_to_is_named_and_compared_with_nothing():
    toggled = [step("spec", turn, t=300.0 + turn, condition=of_toggled("prefix")) for turn in range(1, 7)]
    found = findings(made([*in_time(), *toggled]))
    assert [each.arm for each in found] == ["spec", "prefix"]
    assert found[0].said.startswith("spec and base have finished no step in common yet")
    assert found[1].n == 6
    assert any(said.startswith("6 steps were served by another arm than planned") for said in found[1].but)


def test_toggled_steps_of_two_runs_are_no_pairs():
    """Both had a lap of base that was toggled, and so have conditions of one name."""

    def rows(arm: str) -> list:
        return [*in_time(("base",), 3), *(step(arm, turn, t=50.0 + turn, condition=of_toggled("base"))
                                          for turn in range(4, 10))]  # fmt: skip

    first, again = made(rows("prefix")), made(rows("spec"))
    assert all(each.n == 0 for each in findings(again, first) if each.arm == "spec")


OUTCOME = {"task": "t1", "stop_reason": "finished", "steps": 6, "agent": "a1", "repeat": 0}


def outcome(arm: str, reached: bool, seconds: float, **more) -> tuple:
    return "outcome", {**OUTCOME, "arm": arm, "reached": reached, "seconds": seconds, "attempt": 0, **more}


@pytest.mark.parametrize("asked", [{"task": "t1"}, {"tasks": ["t1"]}])
def test_live_agents_are_told_by_what_they_got_done_and_never_paired(asked):
    """Turns of the same number are no pair: each agent decided itself what to send."""
    told = [outcome("base", True, 30.0), outcome("prefix", False, 10.0), outcome("base", False, 9.0, toggled=True)]
    [found] = findings(made(in_time(), events=told, recording=None, **asked))
    assert found.said == (
        "Each agent went its own way, so no two steps are a pair: base solved 1 of 1 attempt (30.0 s each) and "
        "prefix solved 0 of 1 attempt (10.0 s each)."
    )
    assert (found.ratio, found.n, found.tone, found.because) == (None, 0, "unknown", ())
    [early] = findings(made(in_time(), recording=None, **asked))
    assert early.said == "Each agent went its own way, so no two steps are a pair, and no attempt has been judged yet."


def test_two_runs_of_live_agents_are_told_side_by_side():
    first = made(in_time(("base",)), events=[outcome("base", True, 30.0)], recording=None, task="t1")
    again = made(in_time(("prefix",)), events=[outcome("prefix", True, 20.0)], recording=None, task="t1")
    [found] = findings(again, first)
    assert "prefix solved 1 of 1 attempt (20.0 s each) and base solved 1 of 1 attempt in the run beside" in found.said


def test_under_load_no_arm_is_paired():
    window = {"arm": "base", "condition": "agents=2", "repeat": 0, "agents": 2, "start": 0.0, "end": 9.0}
    [found] = findings(made(in_time(), experiment="interference", events=[("window", window)]))
    assert found.said.startswith("Under load each agent takes what comes, so no two steps are a pair")


def test_what_failed_in_the_run_beside_is_said():
    first = made([*in_time(("base",), 6)[:5], failed("base", 6)])
    [found] = findings(made(in_time(("prefix",)), beside=first.id), first)
    assert "Failed, and in no pair: 1 under base in the run beside." in found.but


def test_a_run_without_an_answer_says_why_and_what_to_do():
    [found] = findings(made([failed("base", 1), failed("base", 2)]))
    assert found.said == (
        "None of the 2 steps got an answer (HTTP 500). The engine's last words are on the Engines page; press Run to "
        "ask again."
    )


def test_a_longer_answer_is_not_blamed_on_the_layer_in_silence():
    rows = [*in_time(("base",)), *(step("prefix", turn, t=100.0 + turn, completion_tokens=30) for turn in range(1, 7))]
    [found] = findings(made(rows))
    assert "prefix wrote 50 % more tokens than base in these steps." in found.but


def test_a_busy_machine_is_said_while_the_run_goes_on():
    [found] = findings(made(in_time(), events=[("bystanders", {"arm": "base", "cores": 0.8})]))
    assert "Other processes kept up to 0.8 cores busy meanwhile: times are too long." in found.but
    assert found.said.endswith("on a busy machine.")
    [quiet] = findings(made(in_time(), events=[("bystanders", {"arm": "base", "cores": 0.1})]))
    assert not any("cores" in said for said in quiet.but)
    assert "busy" not in quiet.said


def test_laps_are_judged_in_the_first_line_with_the_words_of_every_page():
    opened = made(steps(("base", "prefix"), turns=3, repeats=3))
    [found] = findings(opened)
    assert found.n == 9
    gain = twin_gain("e2e_s", opened.steps, opened.chunks, "prefix", "base")
    assert found.said.endswith(f"): {gain.head}, 3 passes.")
    assert found.but[:2] == (
        "Better, on this one task, exploring (outside the headline set, not corrected).",
        "3 passes: the Compare page says with which interval.",
    )
    assert found.tone == "faster"


def test_what_compare_calls_too_few_to_tell_is_not_said_flatly_here():
    [found] = findings(made(steps(("base", "prefix"), turns=3, repeats=2)))
    assert found.ratio is not None
    assert found.ratio > 1.05
    assert found.said.endswith("): too few to tell, 2 passes.")
    assert found.but[0].startswith("Too few to tell: one task and 2 repeats")
    assert found.tone == "unknown"


def test_one_arm_has_nothing_to_compare_with():
    [found] = findings(made(in_time(("prefix",), 3)))
    assert found.said.startswith("3 steps under prefix so far, and nothing to compare with")
    assert found.ratio is None


def test_arms_without_a_common_step_say_so():
    rows = [step("base", 1), step("prefix", 2, t=50.0)]
    [found] = findings(made(rows))
    assert found.said == (
        "prefix and base have finished no step in common yet, so nothing can be said of prefix caching."
    )


def test_no_step_no_finding():
    assert findings(made([])) == ()


def test_a_live_run_speaks_of_its_newest_arm_first_and_others_of_the_fastest():
    rows = in_time(("base", "all", "prefix"))
    assert [each.arm for each in findings(made(rows))] == ["prefix", "all"]
    best = findings(made(rows, experiment="factorial"))
    assert [each.arm for each in best] == ["all", "prefix"]
    assert best[0].but[-1] == "The fastest of 2 arms; the best of several is partly luck."


def test_a_repeated_run_is_set_against_the_one_beside():
    first = made(in_time(("base", "prefix")))
    again = made(in_time(("prefix+spec",)), beside=first.id)
    found = findings(again, first)
    assert [each.against for each in found] == ["prefix", "base"]
    assert found[0].said.startswith("Adding speculation to prefix made these 6 steps")
    assert found[0].n == 6
    assert any(said.startswith("Two runs, one after the other") for said in found[0].but)


def test_after_a_toggle_in_a_repeat_an_arm_is_not_set_against_itself_first():
    """The repeat under base was toggled to prefix: its newest arm is that of the run beside."""
    first = made(in_time(("prefix",)))
    toggled = [step("prefix", 6, t=900.0, condition=of_toggled("base"))]
    found = findings(made([*in_time(("base",), 5), *toggled], beside=first.id), first)
    assert (found[0].arm, found[0].against, found[0].n) == ("base", "prefix", 5)
    assert found[0].said.startswith("Taking prefix caching away from prefix made these 5 steps")
    assert found[0].said.endswith("): a first look, one pass in each of two runs.")


def test_an_arm_against_itself_comes_last():
    first = made(in_time(("base", "prefix")))
    found = findings(made(in_time(("base", "prefix")), beside=first.id), first)
    own_arm = [each.arm == each.against for each in found]
    assert own_arm == sorted(own_arm)
    assert {(each.arm, each.against) for each in found[:3]} == {("prefix", "base"), ("base", "prefix")}


def test_the_same_arm_in_two_runs_shows_what_a_repeat_differs_by():
    first = made(in_time(("prefix",)))
    found = findings(made(in_time(("prefix",)), beside=first.id), first)
    assert found[0].said.startswith("Another run of prefix left the time of these 6 steps about the same")


def test_warm_passes_are_in_no_cold_sum():
    rows = [
        *in_time(),
        *(step("prefix", turn, t=900.0 + turn, cache="warm", t_end=900.1 + turn) for turn in range(1, 7)),
    ]
    [found] = findings(made(rows))
    assert found.n == 6
