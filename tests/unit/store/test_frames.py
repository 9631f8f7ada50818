"""Many runs in one table, ended ones from Parquet and the others from events."""

import shutil
from pathlib import Path

import pytest
from builders import a_sample, a_step, chunks_at

from labkit.core.columns import columns_of
from labkit.core.errors import BadInput
from labkit.core.records import StepRecord
from labkit.store.frames import all_steps, once, query
from labkit.store.runs import RunStore


@pytest.fixture
def three_runs(store: RunStore, clock) -> RunStore:
    for turns in (2, 3):
        with store.create("quick", {}, {}) as run:
            for turn in range(turns):
                step = a_step(run.id, turn=turn, arm="base", cached_tokens=None if turn else 8)
                run.step(step, chunks_at(step, 1.1, 1.2))
            run.samples([a_sample(run.id)])
        clock.advance(1)
    live = store.create("long", {}, {})
    live.step(a_step(live.id, arm="prefix"))
    return store


def test_ended_and_live_runs_are_one_table(three_runs: RunStore):
    answer = query(three_runs, "select arm, count(*) n, count(distinct run) runs from steps group by arm order by arm")
    assert answer.to_numpy().tolist() == [["base", 5, 2], ["prefix", 1, 1]]
    assert query(three_runs, "select count(*) from chunks").iloc[0, 0] == 10
    assert query(three_runs, "select count(*) from telemetry").iloc[0, 0] == 2
    states = query(three_runs, "select state from runs order by created").iloc[:, 0].tolist()
    assert states == ["done", "done", "running"]


def test_a_copied_folder_does_not_count_twice(three_runs: RunStore):
    newest = three_runs.folders()[1]
    for name in ("0-a-copy", "zz-another"):
        shutil.copytree(newest, three_runs.root / name)
    counted = query(three_runs, "select count(*) from steps where run = $run", {"run": newest.name})
    assert counted.iloc[0, 0] == len(three_runs.open(newest.name).steps())
    assert [run.folder.name for run in once(three_runs.runs()) if run.id == newest.name] == [newest.name]
    assert len(all_steps(three_runs)) == 6


def test_null_stays_null_and_parameters_are_bound(three_runs: RunStore):
    counted = query(
        three_runs, "select count(cached_tokens), sum(cached_tokens) from steps where arm = $arm", {"arm": "base"}
    )
    assert counted.iloc[0].tolist() == [2, 16]


def test_all_steps_is_typed_and_oldest_first(three_runs: RunStore, tmp_path: Path):
    steps = all_steps(three_runs)
    assert steps["turn"].tolist() == [0, 1, 0, 1, 2, 1]
    nothing = all_steps(RunStore(tmp_path / "none"))
    assert list(nothing.columns) == [c.name for c in columns_of(StepRecord)]
    assert nothing.empty


def test_sql_that_is_wrong_or_reaches_out_is_refused(three_runs: RunStore, tmp_path: Path):
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    for sql in (
        "select nothing from steps",
        f"select * from read_csv('{secret}')",
        f"copy steps to '{tmp_path / 'out.csv'}'",
        "set enable_external_access = true",
    ):
        with pytest.raises(BadInput, match="sql"):
            query(three_runs, sql)
    assert not (tmp_path / "out.csv").exists()


def test_odd_characters_in_the_folder_name_do_no_harm(tmp_path: Path):
    store = RunStore(tmp_path / "it's [1]* mine")
    with store.create("quick", {}, {}) as run:
        run.step(a_step(run.id))
    assert query(store, "select count(*) from steps").iloc[0, 0] == 1
