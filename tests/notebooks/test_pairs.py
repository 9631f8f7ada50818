"""A notebook is two files with the same cells, and the one in git carries no outputs of a machine nobody knows."""

from pathlib import Path

import jupytext
import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.py"))


def cells(notebook) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(cell.cell_type, cell.source, tuple(cell.metadata.get("tags", ()))) for cell in notebook.cells]


def test_there_are_notebooks_and_none_without_its_pair():
    pairs = {path.with_suffix(".ipynb") for path in NOTEBOOKS}
    assert NOTEBOOKS
    assert pairs == set(NOTEBOOKS[0].parent.glob("*.ipynb"))


@pytest.mark.parametrize("text", NOTEBOOKS, ids=lambda path: path.stem)
def test_both_files_have_the_same_cells(text):
    opened = nbformat.read(text.with_suffix(".ipynb"), as_version=4)
    assert cells(opened) == cells(jupytext.read(text)), f"make it again: python notebooks/tools/outputs.py {text.stem}"


@pytest.mark.parametrize("text", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_opens_with_a_question_and_a_contract(text):
    first, second = jupytext.read(text).cells[:2]
    assert first.source.splitlines()[0].startswith("# ")
    assert first.source.splitlines()[0].endswith("?")
    assert all(f"**What you'll {verb}:**" in first.source for verb in ("do", "learn", "need"))
    assert second.metadata["tags"] == ["parameters"]


@pytest.mark.parametrize("text", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_cells_are_short_and_hold_no_definitions(text):
    code = [cell.source for cell in jupytext.read(text).cells if cell.cell_type == "code"]
    assert max(source.count("\n") + 1 for source in code) <= 15
    assert not [source for source in code if "def " in source or "class " in source]
