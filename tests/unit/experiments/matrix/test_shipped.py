"""What ships: measured elsewhere and said so; documents say what the kept answers and the shipped runs give."""

from __future__ import annotations

from pathlib import Path

import pytest
from matrix_runs import CPU, answers

from labkit.core.errors import BadInput, LabError
from labkit.engines.accepts.plans import VLLM, engine_name
from labkit.engines.profiles import list_profiles, load_profile
from labkit.experiments.matrix import as_markdown, matrix, read_told, write_between_markers
from labkit.experiments.matrix.cells import cell_tables
from labkit.experiments.matrix.markdown import profiles_in, with_matrices
from labkit.store.runs import RunStore

PROJECT = Path(__file__).parents[4]
DOCUMENTS = sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md")])
BEGIN, END = f"<!-- matrix:begin {CPU} -->\n", "<!-- matrix:end -->"


def test_shipped_runs_were_measured_elsewhere() -> None:
    known = matrix(CPU, told=answers())
    found = {(each.arm, each.method) for each in known.cells if each.status == "measured elsewhere"}
    assert {("base", None), ("prefix", None), ("all", "ngram"), ("prefix+spec", "draft_model")} <= found
    assert known.counts["measured here"] == 0
    words = {each.words for each in known.cells if each.status == "measured elsewhere"}
    assert words == {"measured on AMD EPYC, 2 threads (a run that comes with the project)"}


def test_a_shipped_run_that_was_unpacked_is_found_once(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    run = RunStore().open("20261130T195042Z-speculation-eedab7")
    run.folder.rename(tmp_path / run.id)
    known = matrix(CPU, told=answers(), store=store)
    (cell,) = (each for each in known.cells if (each.arm, each.method) == ("prefix+spec", "draft_model"))
    assert cell.run == run.id
    assert "comes with the project" not in cell.words


def test_no_gpu_profile_was_measured_anywhere() -> None:
    for name in list_profiles():
        if load_profile(name).machine.vendor != "cpu":
            assert not [each for each in matrix(name).cells if each.status.startswith("measured")], name


@pytest.mark.parametrize("name", list_profiles())
def test_kept_answers_fit_the_plans_of_today(name: str) -> None:
    """Only vLLM is part of the environment: of another engine nothing may be kept, and then nothing is claimed."""
    told, hint = read_told(name), f"labkit matrix --profile {name} --refresh"
    if told is None:
        assert engine_name(load_profile(name)) != VLLM, hint
        assert {cell.status for cell in matrix(name).cells} <= {"not tried", "refused"}
        return
    today = {key for table in cell_tables(name) for key in table.plans}
    assert set(told.verdicts) == today, hint


def test_documents_say_what_is_known() -> None:
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        made = with_matrices(text, lambda name: as_markdown(matrix(name)))
        assert made == text, f"labkit matrix --write {path.relative_to(PROJECT)}"


def test_a_document_is_written_between_its_markers(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"before\n{BEGIN}old\n{END}\nafter\n{BEGIN}{END}\n")
    assert write_between_markers(path, lambda name: f"| {name} |\n") == [CPU, CPU]
    table = f"{BEGIN}| {CPU} |\n{END}"
    assert path.read_text() == f"before\n{table}\nafter\n{table}\n"
    assert profiles_in("a document without any") == []


def test_a_document_without_markers_or_none_at_all_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    with pytest.raises(LabError, match="cannot be read"):
        write_between_markers(path, str)
    path.write_text("nothing")
    with pytest.raises(BadInput, match="matrix:begin"):
        write_between_markers(path, str)
