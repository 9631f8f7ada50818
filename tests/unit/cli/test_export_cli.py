"""`labkit export`, as a user sees it."""

import json
from pathlib import Path

import pytest
import typer
from builders import a_step, chunks_at
from typer.testing import CliRunner, Result

from labkit.cli import export
from labkit.core.errors import BadInput
from labkit.store.exports import FORMATS
from labkit.store.runs import RunStore


@pytest.fixture
def run_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    with RunStore().create("quick", {"recording": "count"}, {}) as run:
        for arm, seconds in (("base", 2.0), ("spec", 1.0)):
            for turn in range(1, 7):
                step = a_step(run.id, arm=arm, turn=turn, t_send=0.0, t_first_token=0.25, t_last=seconds, t_end=seconds)
                run.step(step, chunks_at(step, 0.25, 0.3, seconds))
    return run.id


def labkit(*arguments: str) -> Result:
    app = typer.Typer()
    export.register(app)
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_tables_come_with_the_arm_table(run_id: str):
    assert labkit("latest", "--format", "json", "--out", "here").stdout.split() == [
        f"here/{name}.json" for name in ("steps", "chunks", "telemetry", "arms", "columns")
    ]
    arms = json.loads(Path("here/arms.json").read_text())
    assert [(row["arm"], row["ratio_to_base"]) for row in arms] == [("base", 1.0), ("spec", 2.0)]
    assert arms[0]["acceptance_rate"] is None
    labkit(run_id)
    assert Path(f"{run_id}-csv/steps.csv").exists()


def test_stdout_is_the_files_and_stderr_how_far_and_where_to_open_them(run_id: str):
    told = labkit(run_id, "--format", "perfetto", "--out", "p")
    assert told.stdout.split() == ["p/trace.json"]
    assert "perfetto: reading the run" in told.stderr
    assert "https://ui.perfetto.dev" in told.stderr


def test_all_makes_a_folder_for_each_format(run_id: str):
    files = labkit(run_id, "--format", "all", "--out", "everything").stdout.split()
    assert list(dict.fromkeys(Path(file).parts[1] for file in files)) == list(FORMATS)
    assert all(Path(file).stat().st_size for file in files)


def test_help_names_every_format_and_has_examples():
    told = " ".join(labkit("--help").stdout.replace("│", " ").split())
    assert all(name in told for name in (*FORMATS, "all"))
    assert "labkit export latest --format csv --out results" in told


def test_a_format_that_is_not_there_is_told_with_those_that_are(run_id: str):
    with pytest.raises(BadInput, match="'xlsx' is not allowed; allowed: csv, parquet, json, aiperf"):
        labkit(run_id, "--format", "xlsx")
