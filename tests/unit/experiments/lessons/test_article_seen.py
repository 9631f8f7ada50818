"""What runs say on the metrics of claims: one row a number, with its arm, its condition, its n and its run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import layer_runs
import pandas as pd
import pytest
from load_folders import under_load
from synthetic import step
from unit.experiments.lessons.article_facts import answers

from labkit.experiments.lessons.article import arm_gains_of, evidence
from labkit.experiments.lessons.article_seen import draft_room, prefill_seqs, seen
from labkit.store.runs import Run, RunStore


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path))
    return tmp_path


def factorial(root: Path, **changes: Any) -> Run:
    """Five tasks, two repeats, each block with its own start of an engine."""
    made = [
        step(arm, turn, repeat=repeat, task=f"t{task}", t=10.0 * task, **changes)
        for arm in ("base", "prefix", "spec", "prefix+pd")
        for repeat in (0, 1)
        for task in range(5)
        for turn in (1, 2, 3, 4)
    ]
    return layer_runs.opened(root, made, experiment="factorial", repeats=2).run


def row(table: pd.DataFrame, **wanted: str) -> dict[str, Any]:
    kept = table[(table[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    assert len(kept) == 1, kept
    return kept.iloc[0].to_dict()


def test_a_factorial_tells_gains_of_layers_alone_and_what_its_caches_served(store: Path) -> None:
    run = factorial(store)
    table = seen([run])
    gain = row(table, layer="prefix_caching", metric="ttft_s")
    assert gain["value"] > 1
    assert (gain["unit"], gain["where"], gain["n"], gain["run"]) == ("x", "prefix", 20, run.id)
    assert set(table[table["unit"] == "x"]["where"]) == {"prefix", "spec"}, "layers together are no layer's gain"
    rate = row(table, layer="prefix_caching", metric="hit_rate")
    assert rate["value"] == pytest.approx(100 * 2376 / 3600)
    assert (rate["unit"], rate["n"], rate["verdict"]) == ("%", 40, "")
    assert row(table, layer="pd_split", metric="hit_rate")["where"] == "prefix+pd"
    assert {"base", "spec"}.isdisjoint(table[table["metric"] == "hit_rate"]["where"])
    assert set(arm_gains_of(run)["arm"]) == {"prefix", "spec", "prefix+pd"}


def test_a_run_cut_after_steps_tells_a_rate_for_each(store: Path) -> None:
    made = [step("prefix", turn, condition="steps=1") for turn in (1,)]
    made += [step("prefix", turn, condition="steps=4", t=50.0) for turn in (1, 2, 3, 4)]
    table = seen([layer_runs.opened(store, made, experiment="steps").run])
    rates = table[table["metric"] == "hit_rate"].set_index("where")["value"]
    assert rates.to_dict() == {"prefix, steps=4": pytest.approx(66.0)}, "one step alone has nothing to find again"


def test_drafters_tell_their_tokens_per_round_and_their_gain(store: Path) -> None:
    made = [layer_runs.step("prefix", turn, condition="method=none") for turn in range(1, 7)]
    made += [layer_runs.step("prefix+spec", turn, condition="method=ngram") for turn in range(1, 7)]
    table = seen([layer_runs.opened(store, made, experiment="speculation").run])
    length = row(table, metric="acceptance_length")
    assert (length["value"], length["unit"], length["where"], length["n"]) == (4.0, "tokens", "ngram", 6)
    gain = row(table, metric="e2e_s", where="ngram")
    assert gain["value"] > 1
    assert gain["verdict"] == "too few to tell"
    assert "hit_rate" not in set(table["metric"])


def test_load_tells_the_split_from_the_same_arm_without_it(store: Path) -> None:
    run = RunStore().open(under_load({"prefix": {6: (12, 12)}, "prefix+pd": {6: (0, 12)}}, "interference"))
    table = seen([run])
    first = row(table, metric="ttft_s", layer="pd_split")
    assert (first["value"], first["verdict"]) == (pytest.approx(0.25), "worse")
    assert (first["where"], first["n"]) == ("prefix+pd, 6 agents", 12)
    assert first["agents"] == 6
    gap = row(table, metric="itl_p99_s", layer="pd_split")
    assert gap["value"] == pytest.approx(1.0)
    assert gap["verdict"] == "too few to tell"


def test_with_few_agents_a_ratio_is_shown_and_not_told(store: Path) -> None:
    run = RunStore().open(under_load({"prefix": {2: (4, 4)}, "prefix+pd": {2: (0, 4)}}, "interference"))
    assert row(seen([run]), metric="ttft_s", layer="pd_split")["verdict"] == "too few to tell"


def test_a_split_without_its_twin_tells_no_gain(store: Path) -> None:
    run = RunStore().open(under_load({"prefix+pd": {6: (12, 12)}}, "interference"))
    assert "ttft_s" not in set(seen([run])["metric"])


def test_a_run_without_a_step_tells_nothing(store: Path) -> None:
    with RunStore().create("factorial", {"arms": []}, {}) as writer:
        pass
    assert seen([RunStore().open(writer.id)]).empty
    assert arm_gains_of(RunStore().open(writer.id)).empty


def processes(role: str, *argv: str) -> dict[str, Any]:
    return {"processes": [{"role": role, "argv": ["python", *argv]}, {"role": "router", "argv": None}]}


def test_how_many_a_prefill_side_may_take_is_read_from_its_command_line(store: Path) -> None:
    told = {"a": processes("prefill", "--max-num-seqs", "8"), "b": processes("engine", "--max-num-seqs", "64")}
    with RunStore().create("interference", {}, {"engines": told}) as writer:
        pass
    assert prefill_seqs(RunStore().open(writer.id)) == 8
    with RunStore().create("interference", {}, {"engines": {"a": processes("prefill")}}) as writer:
        pass
    assert prefill_seqs(RunStore().open(writer.id)) is None


def test_evidence_counts_what_went_through_a_split(store: Path) -> None:
    found = evidence(answers(), [factorial(store)])
    assert (found.prefill_at_once, found.n_split) == (None, 40)


def test_a_draft_s_room_needs_a_run_with_it_and_one_without(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, rooms = factorial(store), pd.DataFrame({"drafter": ["none", "draft_model"], "share": [1.0, 0.5]})
    told = rooms.assign(used_gb=[4.0, 4.5], n_used=[40, 30])
    monkeypatch.setattr("labkit.experiments.lessons.article_seen.room_table", lambda _: told)
    assert draft_room(run) == (0.5, 0.5, 30)
    for lost in (told[:1], told[1:], told.assign(used_gb=[None, 4.5])):
        monkeypatch.setattr("labkit.experiments.lessons.article_seen.room_table", lambda _, lost=lost: lost)
        assert draft_room(run) is None
