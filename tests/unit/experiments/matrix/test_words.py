"""What is said around the cells: tables with notes, counts that add up, and how far acceptance goes."""

from __future__ import annotations

import json

import pytest
import typer
from matrix_runs import CPU, answers
from typer.testing import CliRunner

from labkit.cli import matrix as cli
from labkit.engines.accepts.plans import PlansTold
from labkit.experiments.matrix import as_markdown, matrix
from labkit.experiments.matrix.words import counted, how_far


@pytest.fixture(autouse=True)
def _no_runs(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setattr("labkit.experiments.matrix.measured.examples", dict)
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path_factory.mktemp("runs")))


def test_markdown_is_a_table_with_notes() -> None:
    text = as_markdown(matrix(CPU, told=answers("refused", said="ValueError:\n  a <b> reason")))
    assert "| arm | no drafter | ngram | suffix | draft_model |" in text
    assert "| spec |  | refused [1] | refused [1] | refused [1] |" in text
    assert "1. refused: ValueError: a &lt;b> reason" in text
    assert text.endswith("no weights were loaded.\n")


def test_how_far_acceptance_goes_is_said() -> None:
    cpu = how_far(matrix(CPU, told=answers()))
    assert "vLLM 0.32.0 was asked on 2026-11-30, on the platform cpu." in cpu
    assert "let every process of the plan through: argument parser." in cpu
    assert "GPU" not in cpu
    gpu = "mi300x-8-qwen3-235b"
    assert "the checks of a GPU's platform (rocm) did not run." in how_far(matrix(gpu, told=answers(profile=gpu)))


def test_counts_leave_nothing_out() -> None:
    known = matrix(CPU, told=answers("not tried", said="why"))
    assert sum(known.counts.values()) == len(known.cells) == 16
    assert counted(known) == "16 cells: 16 not tried"
    assert counted(matrix(CPU, told=answers())) == "16 cells: 16 accepted by vLLM's parser"


def run(*words: str, columns: int = 200) -> str:
    app = typer.Typer()
    cli.register(app)
    result = CliRunner(env={"COLUMNS": str(columns)}).invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_the_kept_answers_are_shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.experiments.matrix.ask_engine", lambda *_: pytest.fail("nobody was to be asked"))
    said = run()
    assert "accepted by vLLM's parser" in said
    assert "refused: ImportError: Arctic Inference is required" in said
    assert "16 cells: 12 accepted by vLLM's parser, 4 refused." in said
    assert "accepted by" not in run(columns=80).partition("16 cells")[0], "a narrow table says less in a cell"


def test_a_narrow_table_folds_the_names_of_drafters_and_cuts_none() -> None:
    said = run("--profile", "mi300x-8-qwen3-30b-a3b", columns=80)
    assert max(map(len, said.splitlines())) <= 80
    assert "…" not in said
    assert "_1_7b" in said


def test_json_has_every_cell() -> None:
    said = json.loads(run("--json"))
    cells = [cell for table in said["tables"] for cell in table["cells"]]
    assert len(cells) == sum(said["counts"].values()) == 16
    assert {cell["words"] for cell in cells if cell["method"] != "suffix"} == {"accepted by vLLM's parser"}
    assert said["how_far"].startswith("vLLM 0.32.0 was asked on ")


def test_asking_anew_replaces_what_was_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.experiments.matrix.ask_engine", lambda *_: answers("refused", said="no"))
    assert "16 cells: 16 refused." in run("--ask")
    assert run("--markdown") == as_markdown(matrix(CPU))


def test_where_no_engine_is_installed_the_kept_answers_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = PlansTold(engine="vLLM", version=None, platform=None, asked_on="2026-01-01", verdicts={})
    monkeypatch.setattr("labkit.experiments.matrix.ask_engine", lambda *_: nobody)
    assert "12 accepted by vLLM's parser" in run("--ask")


def test_without_kept_answers_it_is_said_why_nothing_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABKIT_SGLANG_PYTHON", raising=False)
    monkeypatch.setattr("labkit.experiments.matrix.read_told", lambda *_: None)
    said = run("--profile", "mi300x-8-qwen3-235b-sglang")
    assert "no Python with SGLang is named (LABKIT_SGLANG_PYTHON)" in said
    assert "No SGLang was asked about these plans." in said
