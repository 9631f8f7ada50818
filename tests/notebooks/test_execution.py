"""Every notebook runs from its text to its last cell with small parameters: on the fake engine and on the real one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import fake_vllm
import jupytext
import papermill
import pytest
from synthetic import recording

from labkit.engines.fleet import Fleet
from labkit.traffic.recording import save

FOLDER = Path(__file__).parents[2] / "notebooks"
QUICKSTART = FOLDER / "00_quickstart.py"


def execute(text: Path, folder: Path, **parameters: Any):
    """The executed notebook. Raises PapermillExecutionError with the cell's own error."""
    source, out = folder / "in.ipynb", folder / "out.ipynb"
    jupytext.write(jupytext.read(text), source)
    return papermill.execute_notebook(
        source, out, parameters=parameters, kernel_name="python3", language="python", progress_bar=False, cwd=folder
    )


def figures(notebook) -> list[dict]:
    return [
        output["data"]["application/vnd.plotly.v1+json"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "application/vnd.plotly.v1+json" in output.get("data", {})
    ]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A store, a fleet and a recording of this test's own."""
    for variable in ("RUNS", "STATE", "DATA"):
        monkeypatch.setenv(f"LABKIT_{variable}", str(tmp_path / variable.lower()))
    save(recording(), tmp_path / "data" / "recordings" / "tiny.jsonl")
    yield tmp_path
    Fleet().down()


@pytest.fixture
def fake(machine, monkeypatch) -> str:
    """A profile whose `vllm` is the fake engine."""
    profile, path = fake_vllm.install(machine / "fake", os.environ["PATH"])
    monkeypatch.setenv("PATH", path)
    return str(profile)


def test_quickstart_measures_and_draws(machine, fake):
    arms = ["base", "prefix", "prefix+spec"]
    done = execute(QUICKSTART, machine, PROFILE=fake, RECORDING="tiny", STEPS=3, ARMS=arms)
    assert len(figures(done)) == 6
    assert all(figure["data"] for figure in figures(done))
    stored = execute(QUICKSTART, machine, PROFILE=fake, ARMS=arms, ENGINE="stored")
    assert [len(figure["data"]) for figure in figures(stored)] == [len(figure["data"]) for figure in figures(done)]


def test_a_failing_cell_fails_the_test(machine, fake):
    with pytest.raises(papermill.PapermillExecutionError, match="no-such-recording"):
        execute(QUICKSTART, machine, PROFILE=fake, RECORDING="no-such-recording")


@pytest.mark.engine
def test_quickstart_on_the_real_engine(tmp_path, monkeypatch):
    for variable in ("RUNS", "STATE"):
        monkeypatch.setenv(f"LABKIT_{variable}", str(tmp_path / variable.lower()))
    try:
        done = execute(QUICKSTART, tmp_path, STEPS=2, ARMS=["base", "prefix"])
    finally:
        Fleet().down()
    assert all(figure["data"] for figure in figures(done)[:5])
