"""Where arms did not send the same requests, or got no answer, no table and no page compares them."""

from __future__ import annotations

import pytest
from run_folders import ended
from synthetic import failed, steps

from labkit.experiments.dashboard.compare.compare import scope
from labkit.experiments.dashboard.compare.meaning import meaning
from labkit.experiments.dashboard.opened import Opened
from labkit.experiments.exported import tables_of
from labkit.store.runs import RunStore


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))


def opened(rows, *args, **asked) -> Opened:
    return Opened(RunStore().open(ended(rows, *args, **asked)))


@pytest.mark.parametrize("asked", [{"task": "t1"}, {"tasks": ["t1"]}])
def test_live_agents_are_paired_nowhere_from_the_first_step_on(asked):
    run = opened(steps(), recording=None, **asked)
    assert (scope(run).kind, scope(run).passes) == ("agents", ())
    for table in (run.arm_table, run.view.table(), tables_of(run.run)["arms"][0]):
        assert table["ratio_to_base"].isna().all()
        assert not table["n_pairs"].any()
    assert opened(steps(), task="t1").paired  # a replay of what was recorded at a task


def test_where_nothing_got_an_answer_one_sentence_takes_the_place_of_figures():
    found = scope(opened([failed("base", 1), failed("prefix", 1)], "failed", "the engine went away"))
    assert (found.kind, found.passes) == ("nothing", ())
    said = meaning(found, None, "e2e_s")
    assert said.finding == "No request got an answer in this run, so it says nothing."
    assert said.caution.startswith("The run is failed: the engine went away.")
