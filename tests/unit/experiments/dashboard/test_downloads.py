"""Downloads: every format read back from what was packed, what is said of runs that are not whole, and what is left."""

import csv
import io
import json
import shutil
import time
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from aiperf.common.models import record_models
from export_runs import a_rich_run
from google.protobuf import json_format
from html_reader import Page
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from run_folders import ended, started, write
from synthetic import failed, steps
from trace_reader import read_trace

from labkit.core.errors import LabError
from labkit.experiments.dashboard.files.downloads import OFFERS, chosen, commands, guessed_bytes, size_words
from labkit.experiments.dashboard.files.packing import Packing
from labkit.experiments.dashboard.opened import Opened
from labkit.store.runs import Run, RunStore

NAMES = [offer.name for offer in OFFERS]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return RunStore()


@pytest.fixture
def run(store: RunStore) -> Run:
    return a_rich_run(store)


def packed(names: list[str], formats: list[str]) -> Packing:
    packing = Packing(names, formats)
    assert packing.wait(60)
    assert not packing.error
    return packing


def unzipped(packing: Packing) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(packing.read())) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_every_format_of_a_run_reads_back(run: Run, tmp_path: Path):
    packing = packed([run.id], NAMES)
    assert packing.file is not None
    assert packing.file.name == f"{run.id}-export.zip"
    found = {name.removeprefix(f"{run.id}/"): data for name, data in unzipped(packing).items()}
    assert len(list(csv.DictReader(io.StringIO(found["csv/steps.csv"].decode())))) == len(run.steps())
    pd.testing.assert_frame_equal(
        pd.read_parquet(io.BytesIO(found["parquet/chunks.parquet"])), run.chunks(), check_dtype=False
    )
    assert [row["arm"] for row in json.loads(found["json/arms.json"])] == ["base", "spec"]
    records = next(data for name, data in found.items() if name.endswith("profile_export.jsonl"))
    assert all(record_models.MetricRecordInfo.model_validate_json(line) for line in records.splitlines())
    report = next(data for name, data in found.items() if name.startswith("llmd/"))
    assert json.loads(report)["version"] == "0.2.1"
    assert json_format.Parse(found["otlp/traces.jsonl"].splitlines()[0], TracesData(), ignore_unknown_fields=True)
    (tmp_path / "trace.json").write_bytes(found["perfetto/trace.json"])
    assert read_trace(tmp_path / "trace.json").slices
    assert "Results" in Page(found[f"report/{run.id}.html"].decode()).text
    (tmp_path / "again.zip").write_bytes(found[f"folder/{run.id}.zip"])
    assert RunStore(tmp_path / "no").open(tmp_path / "again.zip").info == run.info


@pytest.mark.parametrize(
    ("fmt", "ending", "mime"),
    [
        ("perfetto", "-perfetto.json", "application/json"),
        ("otlp", "-otlp.jsonl", "application/jsonl"),
        ("folder", ".zip", "application/zip"),
        ("report", ".html", "text/html"),
        ("csv", "-csv.zip", "application/zip"),
    ],
)
def test_one_file_is_not_zipped(run: Run, fmt: str, ending: str, mime: str):
    packing = packed([run.id], [fmt])
    assert packing.file is not None
    assert (packing.file.name, packing.mime) == (f"{run.id}{ending}", mime)
    assert packing.size == len(packing.read()) > 0


def test_several_runs_lie_side_by_side(run: Run):
    other = ended(steps(("base",), turns=2))
    packing = packed([run.id, other], ["csv"])
    assert packing.file is not None
    assert packing.file.name == "labkit-2-runs-csv.zip"
    assert {name.split("/")[0] for name in unzipped(packing)} == {run.id, other}


def test_a_run_and_its_copies_lie_side_by_side(run: Run, tmp_path: Path):
    copy = shutil.copytree(run.folder, run.folder.with_name("copy"))
    elsewhere = shutil.copytree(run.folder, tmp_path / "elsewhere" / "copy")
    names = list(unzipped(packed([run.id, str(copy), str(elsewhere)], ["csv", "report"])))
    assert len(names) == len(set(names))
    assert {name.split("/")[0] for name in names} == {run.id, "copy", "copy (2)"}


def test_only_the_file_is_kept_and_that_only_until_it_is_closed(run: Run):
    packing = packed([run.id], ["csv", "json"])
    assert packing.file is not None
    folder = packing.file.parent
    assert list(folder.iterdir()) == [packing.file]
    packing.close()
    assert not folder.exists()
    with pytest.raises(LabError):
        packing.read()


def test_one_that_is_given_up_stops_and_leaves_nothing(run: Run, tmp_path: Path):
    packing = Packing([run.id] * 40, ["csv"])
    packing.close()
    deadline = time.monotonic() + 30
    while list(tmp_path.glob("labkit-export-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(tmp_path.glob("labkit-export-*"))


def test_what_goes_wrong_is_said(run: Run):
    packing = Packing(["no-such-run"], ["csv"])
    assert packing.wait(30)
    assert "no-such-run" in packing.error
    assert packing.file is None


def test_progress_says_the_format_and_how_much_is_done(run: Run):
    packing = packed([run.id], ["csv", "perfetto"])
    assert packing.progress.stage == "perfetto"
    assert packing.progress.total == 2
    assert packing.progress.done is not None
    assert packing.progress.done >= 1


def test_a_failed_run_and_one_that_goes_on_export_what_they_have():
    bad = ended([failed("base", 1)], "failed", "all requests failed")
    said = chosen(Opened(RunStore().open(bad)), "x")
    assert said.words == "It failed: the export has the 1 step that it has."
    empty = ended([], "failed")
    assert "before a step was over" in chosen(Opened(RunStore().open(empty)), "x").words
    assert chosen(Opened(RunStore().open(ended(steps()))), "x").words == ""
    with started(["base"]) as writer:
        write(writer, steps(("base",), turns=2))
        assert "what there is now (2 steps)" in chosen(Opened(RunStore().open(writer.id)), "x").words
        going = unzipped(packed([writer.id], ["csv"]))
        assert len(going[f"{writer.id}/csv/steps.csv"].splitlines()) == 3
    for run in (bad, empty):
        assert unzipped(packed([run], [name for name in NAMES if name != "report"]))


def test_the_guessed_size_is_right_within_a_factor_of_three(run: Run):
    long = ended(steps(("base", "prefix", "spec"), turns=40))
    version = RunStore().open(long).version
    for fmt in ("json", "otlp", "perfetto", "folder"):
        guess = guessed_bytes([version], [fmt])
        assert guess / 3 < packed([long], [fmt]).size < guess * 3, fmt
    assert size_words(3) == "less than 0.1 MB"
    assert (size_words(4_140_000), size_words(119_800_000)) == ("about 4.1 MB", "about 120 MB")


def test_the_same_from_a_terminal():
    assert commands(["r1"], ["csv", "report"]) == ("labkit export r1 --format csv", "labkit report r1 --out r1.html")
    assert commands(["r1", "r2"], NAMES)[:3] == (
        "labkit export r1 --format all", "labkit report r1 --out r1.html", "labkit export r1 --format folder"
    )  # fmt: skip
