"""Each notebook runs without an engine on the runs that come with the project, and what is kept of it is what it says.

What it does on the real engine is asked by its own module, `test_<its name>.py`.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest
from notebook_runs import FOLDER, PLOTLY, PNG, STEMS, execute, figures, outputs, printed, shown

HERE = Path(__file__).parent
TEMPORARY = re.compile(r"(/tmp|/var)/\S+")


def plain(notebook) -> list[str]:
    """What its cells print or show as text, without folders that are made for one run.

    What is printed is joined, since a kernel hands it on in pieces as they come.
    """
    said = [printed(notebook)]
    said += [data for mime in ("text/markdown", "text/html") for data in shown_without_scripts(notebook, mime)]
    return [TEMPORARY.sub("…", text) for text in said]


def shown_without_scripts(notebook, mime: str) -> list[str]:
    return [text for text in shown(notebook, mime) if "<script" not in text]


@pytest.mark.parametrize("stem", STEMS)
def test_it_runs_on_stored_runs_and_is_kept_so(stem, no_engine):
    done = execute(stem, no_engine, ENGINE="stored")
    kept = nbformat.read(FOLDER / f"{stem}.ipynb", as_version=4)
    again = f"make it again: make notebooks, or python notebooks/tools/outputs.py {stem}"
    assert plain(kept) == plain(done), again
    assert titles(kept) == titles(done), again
    assert figures(done)
    assert all(figure["data"] for figure in figures(done))


def titles(notebook) -> list[str]:
    return [figure["layout"]["title"]["text"] for figure in figures(notebook)]


@pytest.mark.parametrize("stem", STEMS)
def test_every_figure_is_kept_as_a_picture_too(stem):
    kept = outputs(nbformat.read(FOLDER / f"{stem}.ipynb", as_version=4))
    drawn = [output.data for output in kept if PLOTLY in output.get("data", {})]
    assert drawn
    assert all(
        PNG in data and not any("<script" in text for text in data.values() if isinstance(text, str)) for data in drawn
    )
    assert not [output for output in kept if output.output_type == "error"]


@pytest.mark.parametrize("stem", STEMS)
def test_the_same_cells_run_for_the_target(stem, no_engine):
    done = execute(stem, no_engine, ENGINE="stored", PROFILE="mi300x-8-qwen3-235b")
    assert len(figures(done))


@pytest.mark.parametrize("stem", STEMS)
def test_it_says_which_run_it_shows(stem):
    kept = nbformat.read(FOLDER / f"{stem}.ipynb", as_version=4)
    assert re.search(r"^stored run \d{8}T\d{6}Z-\S+, measured on \d{4}-\d\d-\d\d on", printed(kept), re.MULTILINE)


@pytest.mark.parametrize("stem", STEMS)
def test_it_has_a_test_of_its_own_on_the_real_engine(stem):
    spec = importlib.util.spec_from_file_location(f"own_{stem}", HERE / f"test_{stem}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    own = module.test_on_the_real_engine
    assert module.SMALL
    assert [mark.name for mark in own.pytestmark] == ["engine"] or module.pytestmark.name == "engine"


def test_what_the_folder_says_of_its_notebooks_is_complete():
    text = (FOLDER / "README.md").read_text()
    assert [stem for stem in STEMS if f"{stem}.ipynb" not in text] == []


def test_all_together_they_stay_small():
    sizes = {path.name: path.stat().st_size for path in FOLDER.glob("*.ipynb")}
    assert max(sizes.values()) < 3 * 2**20, sizes
    assert sum(path.stat().st_size for path in (FOLDER.parent / "data" / "runs").glob("*.zip")) < 8 * 2**20
