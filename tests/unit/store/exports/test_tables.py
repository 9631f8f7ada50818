"""Files for other tools: nulls stay nulls, columns are explained."""

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from builders import a_sample, a_step, chunks_at

from labkit.core.errors import BadInput, LabError
from labkit.core.records import SampleRecord
from labkit.store.exports import export
from labkit.store.runs import Run, RunStore


@pytest.fixture
def run(store: RunStore) -> Run:
    with store.create("quick", {}, {}) as writer:
        step = a_step(writer.id, cached_tokens=None, prompt_tokens=64, queue_s=None, error='said "no",\nthen left')
        writer.step(step, chunks_at(step, 1.1))
        writer.samples([a_sample(writer.id, value=None)])
    return store.open(writer.id)


def test_csv(run: Run, tmp_path: Path):
    files = export(run, "csv", tmp_path / "new" / "out")
    assert [f.name for f in files] == ["steps.csv", "chunks.csv", "telemetry.csv", "columns.json"]
    row = pd.read_csv(files[0], keep_default_na=False, dtype=str).iloc[0]
    assert (row.prompt_tokens, row.cached_tokens, row.queue_s) == ("64", "", "")
    assert row.error == 'said "no",\nthen left'


def test_json(run: Run, tmp_path: Path):
    steps = json.loads(export(run, "json", tmp_path)[0].read_text())
    assert (steps[0]["prompt_tokens"], steps[0]["cached_tokens"], steps[0]["queue_s"]) == (64, None, None)
    assert steps[0]["warmup"] is False


def test_parquet(run: Run, tmp_path: Path):
    steps = pq.read_table(export(run, "parquet", tmp_path)[0]).to_pylist()
    assert (steps[0]["prompt_tokens"], steps[0]["cached_tokens"], steps[0]["queue_s"]) == (64, None, None)


def test_columns_are_explained_and_more_tables_can_come_along(run: Run, tmp_path: Path):
    files = export(run, "csv", tmp_path, extra={"more": (run.samples(), SampleRecord)})
    assert files[3].name == "more.csv"
    columns = json.loads(files[-1].read_text())
    assert set(columns) == {"steps", "chunks", "telemetry", "more"}
    told = {c["name"]: c for c in columns["steps"]}
    assert set(told) == set(pd.read_csv(files[0]).columns)
    assert told["t_send"]["unit"] == "s"


def test_a_bad_format_or_folder_says_so(run: Run, tmp_path: Path):
    with pytest.raises(BadInput, match="csv, parquet, json"):
        export(run, "xlsx", tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match="cannot be written"):
        export(run, "csv", tmp_path / "file")
