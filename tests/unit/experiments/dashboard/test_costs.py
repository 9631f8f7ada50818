"""Costs at listed and edited prices, of solved tasks, and where there is no such cost."""

from dataclasses import replace
from pathlib import Path

import pytest
from load_folders import judged, under_load
from run_folders import ended, started
from synthetic import failed, step, steps

from labkit.analysis.format import usd
from labkit.core.conditions import of_toggled
from labkit.core.errors import BadInput, UnknownName
from labkit.experiments.dashboard.money.costs import COLUMNS, FAILED, NOBODY, NOTHING, Costed, costed
from labkit.experiments.dashboard.money.prices import an_hour, choices, inputs, known_edits, priced, resting_on
from labkit.experiments.dashboard.opened import Opened
from labkit.store.runs import RunStore

AN_HOUR = 1200 / 4 / (8760 * 0.2) + 0.045 * 0.3
"""Of `laptop-cpu`."""


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))


def cost_of(run: str, price: str = "laptop-cpu", edits: tuple[tuple[str, float], ...] = ()) -> Costed:
    return costed(Opened(RunStore().open(run)), price, edits)


def cell(found: Costed, arm: str, column: str, view: int = 0) -> str:
    (row,) = [cells for cells in found.views[view].cells if cells[0] == arm]
    return row[COLUMNS.index(column)]


def test_a_solved_task_costs_all_that_was_spent_over_what_was_solved():
    found = cost_of(judged(lambda arm, attempt: arm == "base" or attempt == 0))
    # base: TTFT 0.6 + 0.8 s and 2 s of decoding twice; prefix+spec: 0.6 + 0.2 s and 1 s twice; three attempts
    base, other = (AN_HOUR / 3600 * 3 * seconds for seconds in (5.4, 2.8))
    assert found.views[0].sentence == (
        f"A solved task costs {usd(base / 3)} under base (3 of 3 task runs solved) "
        f"against {usd(other)} under prefix+spec (1 of 3 task runs solved)."
    )
    assert cell(found, "base", "per solved task") == usd(base / 3)
    assert cell(found, "prefix+spec", "per task run") == usd(other / 3)
    assert found.verdict.startswith("Does it solve as much? prefix+spec against base: too few to tell")


def test_where_one_arm_solved_nothing_it_has_no_such_cost():
    found = cost_of(judged(lambda arm, _: arm == "base"))
    assert "Under prefix+spec nothing was solved, so there is no such cost." in found.views[0].sentence
    assert cell(found, "prefix+spec", "per solved task") == "–"
    assert cell(found, "prefix+spec", "solved") == "0"


def test_where_nobody_solved_anything_nothing_is_divided():
    found = cost_of(judged(lambda *_: False))
    spent = AN_HOUR / 3600 * 3 * (5.4 + 2.8)
    assert found.views[0].sentence.startswith(
        f"Nothing was solved in 6 task runs, so a solved task has no cost, however much was spent ({usd(spent)})."
    )
    assert [row[COLUMNS.index("per solved task")] for row in found.views[0].cells] == ["–", "–"]


def test_a_replay_solves_nothing_and_says_what_a_run_of_a_task_cost():
    found = cost_of(ended(steps(("base", "prefix"))))
    assert found.views[0].sentence.startswith("What a solved task costs cannot be said: a replay sends recorded")
    assert " under prefix (n 1) against " in found.views[0].sentence
    assert "do not compare" not in found.views[0].sentence


def test_arms_that_did_less_are_not_compared():
    found = cost_of(ended([*steps(("base",), turns=4), *steps(("prefix",), turns=1)]))
    assert found.views[0].sentence.endswith("(1.0 to 4.0 steps): do not compare their costs.")


def test_costs_follow_an_edit_and_every_name_says_so():
    run = ended(steps(("base",)))
    listed, edited = cost_of(run), cost_of(run, edits=(("utilisation", 0.1), ("upkeep", 0.0)))
    assert edited.price == "laptop-cpu, edited: utilisation 0.1 instead of 0.2"  # upkeep is 0 as listed: no edit
    assert edited.resting_on == "6 assumptions, 1 figure of yours"
    assert edited.price in edited.views[0].per_task.caption.note
    assert all(edited.price in info.caption.note for info in edited.views[0].per_million.values())
    assert "edited" not in listed.price
    price = priced("laptop-cpu", (("utilisation", 0.1),))
    assert an_hour(price).startswith(usd(AN_HOUR + 1200 / 4 / (8760 * 0.2)))
    assert cell(edited, "base", "per task run") != cell(listed, "base", "per task run")


def test_an_edit_that_cannot_be_is_said_in_words():
    with pytest.raises(BadInput, match=r"utilisation: 1\.5 is not allowed; allowed: above 0, at most 1"):
        priced("laptop-cpu", (("utilisation", 1.5),))
    with pytest.raises(UnknownName, match="no price is called"):
        priced("laptop")
    assert priced("mi300x-8-rent", (("power", 3.0),)).name == "mi300x-8-rent"  # it has no such figure
    assert known_edits([("power", None), ("pue", 1.2)]) == (("pue", 1.2),)


def test_each_figure_says_whether_somebody_lists_it():
    rent, use = inputs("mi300x-8-rent")
    assert (rent.listed, rent.assumed, use.assumed) == (2.59, False, True)
    assert "2.59 as of 2026-10-08. Source: https://" in rent.origin
    assert "Assumption: " in use.origin
    assert resting_on(priced("mi300x-8-rent")) == "1 figure with a source, 1 assumption"
    assert [choice.name for choice in choices("cpu-smollm2") if choice.fits] == ["laptop-cpu"]
    assert choices("cpu-smollm2")[0].fits


def test_published_rates_stand_hollow_beside_it_at_the_price_of_their_machine():
    run = ended(steps(("base", "prefix")))
    here = cost_of(run).views[0].per_million
    assert not any(mark.claimed for mark in here["generated"].marks)
    there = cost_of(run, "mi300x-8-rent")
    marks = there.views[0].per_million["generated"].marks
    assert [mark.arm for mark in marks if not mark.claimed] == ["base", "prefix"]
    claims = [mark for mark in marks if mark.claimed]
    assert {usd(mark.value) for mark in claims} == {usd(2.59 * 8 / 3600 / 8 / 1000 * 1e6)}
    assert "Hollow" in there.views[0].per_million["generated"].caption.note
    assert not any(mark.claimed for mark in there.views[0].per_million["computed"].marks)
    assert there.elsewhere.startswith("Measured on cpu-smollm2: 8 x MI300X")


def test_whose_seconds_are_priced_is_said_of_the_machine_and_not_of_the_profile(monkeypatch: pytest.MonkeyPatch):
    run = ended(steps(("base",)))
    opened = Opened(RunStore().open(run))
    cpu = {"cpu": {"cores": 64, "model": "AMD EPYC 9654"}}
    known = replace(opened.info, fingerprint=cpu)
    monkeypatch.setattr(opened, "info", known)
    assert costed(opened, "laptop-cpu").elsewhere == (
        "The price of laptop-cpu is put to seconds of 64 cores of an AMD EPYC 9654: a conversion, unless you pay for "
        "that one."
    )
    monkeypatch.setattr(opened, "info", replace(opened.info, fingerprint={}))
    assert "seconds of a machine that the run does not name: a conversion" in costed(opened, "laptop-cpu").elsewhere


def test_every_load_and_cache_state_is_a_view_of_its_own_in_order():
    found = cost_of(under_load({"prefix": {8: (3, 3), 16: (2, 2), 2: (1, 1)}}))
    assert [view.condition for view in found.views] == ["agents=2", "agents=8", "agents=16"]
    both = cost_of(ended([step("base", 1), step("base", 1, cache="warm")]))
    assert [view.cache for view in both.views] == ["cold", "warm"]


def test_what_no_engine_served_has_no_cost():
    found = cost_of(ended([replace(step("base", 1), arm="none")], arms=[]))
    assert (found.empty, found.views) == (NOBODY, ())


def test_before_a_step_is_over_there_is_nothing_to_pay_for():
    with started(["base"]) as writer:
        found = cost_of(writer.id)
    assert (found.empty, found.views, found.remarks) == (NOTHING, (), ())


def toggled_lap(repeat: int) -> list:
    """A lap of base of four steps, from whose third step on prefix served."""
    return [*(step("base", turn, repeat=repeat, t=100.0 * repeat + 5 * turn) for turn in (1, 2)),
            *(step("prefix", turn, repeat=repeat, t=100.0 * repeat + 5 * turn, condition=of_toggled("base"))
              for turn in (3, 4))]  # fmt: skip


def test_a_lap_that_a_toggle_cut_short_is_no_task_run():
    whole = [
        step(arm, turn, t=at + 5.0 * turn) for arm, at in (("base", 0.0), ("prefix", 50.0)) for turn in range(1, 5)
    ]
    found, plain = cost_of(ended([*whole, *toggled_lap(1)])), cost_of(ended(whole))
    assert found.views == plain.views
    assert "1 lap that a toggle cut short: no whole task run of any arm, and so in no cost." in found.remarks
    assert not any("toggle" in said for said in plain.remarks)


def test_a_run_of_nothing_but_toggled_laps_says_so():
    found = cost_of(ended([*toggled_lap(0), *toggled_lap(1)]))
    assert (found.empty.split(":")[0], found.views) == ("2 laps that a toggle cut short", ())


def test_live_agents_are_not_called_a_replay():
    found = cost_of(ended(steps(("base", "prefix")), recording=None, task="t1"))
    words = " ".join([found.views[0].sentence, *found.remarks])
    assert "not every attempt of its agents was judged" in words
    assert "replay" not in words


def test_a_run_without_an_answer_costs_nothing_that_could_be_said():
    found = cost_of(ended([failed("base", 1), failed("base", 2)], "failed"))
    assert found.empty == FAILED


def test_an_arm_that_told_no_end_has_a_dash_and_no_bar():
    found = cost_of(ended([*steps(("base",)), failed("prefix", 1)]))
    assert cell(found, "prefix", "per task run") == "–"
    assert [bar.arm for bar in found.views[0].per_task.bars] == ["base"]
    assert "under prefix" not in found.views[0].sentence
