"""Two runs beside each other: what differs, what is paired, and what that means, of runs whose gain was planted."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from planted import planted
from run_folders import write
from synthetic import steps

from labkit.experiments.comparison import compare_runs
from labkit.experiments.dashboard.compare.curves import curves, curves_beside
from labkit.experiments.dashboard.compare.doubts import Doubt
from labkit.experiments.dashboard.compare.gain_pictures import forest_of_two, rows_of_two
from labkit.experiments.dashboard.compare.meaning_of_two import meaning_of_two
from labkit.experiments.dashboard.compare.two_runs import Fact, TwoRuns, arms_of, two_runs
from labkit.experiments.dashboard.opened import Opened
from labkit.store.runs import RunStore

HASHES = {"recordings": {"tiny": "a" * 64}}
ON = {**HASHES, "cpu": {"model": "EPYC", "cores": 2}, "git": {"commit": "0" * 40, "dirty": False}}
ARMS = ("base", "prefix")


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))


def run(made, fingerprint=ON, name="r", **asked) -> Opened:
    """A run of recording `tiny` on this machine; starts of its engines are its own."""
    own = [replace(step, recording="tiny", engine=f"{name} {step.engine}") for step in made]
    question = {"profile": "p", "recordings": ["tiny"], "arms": list(ARMS), "repeats": 4, **asked}
    writer = write(RunStore().create("replay", question, fingerprint), own)
    writer.finish("done", "")
    return Opened(RunStore().open(writer.id))


def at(speed: float, name: str, fingerprint=ON, **changes) -> Opened:
    """A run whose every answer takes 1 / speed as long."""
    made = planted(ARMS, repeats=4, gains={"prefix_caching": 2.0}, cached_tokens=0, noise=lambda: 0.0)
    times = ("t_first_token", "t_last", "t_end")
    return run([replace(s, **{t: getattr(s, t) / speed for t in times}, **changes) for s in made], fingerprint, name)


def said(found: TwoRuns, metric: str = "e2e_s", **doubts):
    of = found.passes[0] if found.passes else None
    return meaning_of_two(found, found.rows(of.cache, of.condition) if of else found.table, metric, **doubts)


@pytest.fixture(scope="module")
def faster(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LABKIT_RUNS", str(tmp_path_factory.mktemp("two")))
        a, b = at(1.0, "a"), at(1.5, "b")
        yield a, b, two_runs(a, b)


def test_nothing_differs_and_every_request_is_paired(faster):
    _, _, found = faster
    assert (found.ran_on, found.asked) == ((), ())
    assert [(row.recording, row.paired, row.why) for row in found.requests] == [("tiny", True, "same hash")]


def test_the_numbers_are_those_of_the_comparison_of_the_folders(faster):
    a, b, found = faster
    pd.testing.assert_frame_equal(found.table, compare_runs(a.run, b.run).table)


def test_the_gain_of_the_second_run_is_said_for_each_setting(faster):
    _, _, found = faster
    meant = said(found, a=[Doubt(words="It was busy.")])
    assert meant.told
    assert meant.finding == (
        "Run B against run A: with no layer answers came 1.50 times as fast (1.50 to 1.50) and with prefix caching "
        "answers came 1.50 times as fast (1.50 to 1.50), on 10 requests of 5 tasks, each sent 4 times."
    )
    assert meant.caution.startswith("The runs were not made in turns")
    assert "Run A: It was busy." in [doubt.words for doubt in meant.doubts]


def test_figures_and_table_are_of_both_runs(faster):
    a, b, found = faster
    rows = found.rows("cold", "")
    assert arms_of(rows) == list(ARMS)
    info = forest_of_two(rows, "e2e_s")
    assert info.caption.title.startswith("What does run B gain over run A")
    assert [mark.gain for mark in info.panels[0].marks] == pytest.approx([1.5, 1.5])
    first = rows_of_two(rows, "e2e_s")[0]
    assert (first["of"], first["gain"], first["verdict"]) == ("base", "1.50x", "better")
    both = curves_beside(curves(a), curves(b), "prefix")
    assert [curve.name for curve in both.times[0].curves] == ["A: prefix", "B: prefix"]
    assert [line.name for line in both.turns[1].lines] == ["A: prefix", "B: prefix"]


def test_what_differs_is_readable_and_warns_of_one_cause():
    other = {**HASHES, "cpu": {"model": "Xeon", "cores": 2}, "git": {"commit": "1" * 40, "dirty": False}}
    found = two_runs(at(1.0, "a"), at(1.5, "b", other))
    assert found.ran_on == (
        Fact(what="processor model", a="EPYC", b="Xeon"),
        Fact(what="labkit's commit", a="0" * 12, b="1" * 12, heavy=False),
    )
    assert said(found).caution == (
        "Do not put a difference down to one cause: the runs differ in processor model, and it is of all that together."
    )


def test_a_flag_of_an_engine_is_named_and_an_engine_of_another_arm_is_no_difference():
    def engine(*argv):
        return {"processes": [{"role": "engine", "argv": ["serve", *argv], "env": {}}]}

    one = {"engines": {"k1": engine("--block-size", "16"), "k2": engine("--spec")}}
    two = {"engines": {"k3": engine("--block-size", "32")}}
    found = two_runs(run(steps(turns=1), one, "a"), run(steps(turns=1), two, "b"))
    assert [(fact.what, fact.a, fact.b, fact.heavy) for fact in found.ran_on] == [
        ("engine 1 --block-size", "16", "32", True),
        ("engine 2", "has this engine", "has none like it", False),
    ]


def test_other_requests_are_not_paired_and_nothing_is_told():
    a = run(steps(ARMS, turns=3), {"recordings": {"tiny": "a"}}, "a")
    b = run(steps(ARMS, turns=3), {"recordings": {"tiny": "b"}}, "b")
    meant = said(two_runs(a, b))
    assert not meant.told
    assert "which were not the same ones in both" in meant.finding
    assert (
        meant.caution
        == "The runs did not send the same requests, so what differs between the tasks is in every number."
    )


def test_runs_without_a_setting_in_common_cannot_be_compared():
    meant = said(two_runs(run(steps(("base",))), run(steps(("spec",)))))
    assert meant.finding == "The two runs measured no setting in common, so they cannot be compared."
    assert "share a setting" in meant.caution


def test_many_settings_are_counted():
    arms = ("base", "prefix", "pd", "spec")
    a, b = (run(steps(arms, turns=n), name=str(n)) for n in (2, 3))
    meant = said(two_runs(a, b))
    assert "in 4 of 4 settings answers came 1.00 times as fast" in meant.finding
    assert meant.caution.startswith("Do not conclude anything of these sizes")
