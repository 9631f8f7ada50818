"""The run folder as a .zip: it opens elsewhere as the same run, and keeps no secret that somebody left in it."""

import json
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from export_runs import a_rich_run
from synthetic import step

from labkit.core.errors import BadInput
from labkit.core.masking import MASK
from labkit.core.progress import silent
from labkit.store.exports import FOLDER, export
from labkit.store.runs import Run, RunStore


def test_it_opens_elsewhere_as_the_same_run(run: Run, out: Path, tmp_path: Path):
    (path,) = export(run, FOLDER, out)
    assert path.name == f"{run.id}.zip"
    again = RunStore(tmp_path / "elsewhere").open(path)
    assert again.info == run.info
    for table in ("steps", "chunks", "samples"):
        pd.testing.assert_frame_equal(getattr(again, table)(), getattr(run, table)())
    assert [event["type"] for event in again.events()] == [event["type"] for event in run.events()]
    assert not again.problems()


def test_secrets_of_an_older_folder_are_masked_on_the_way(run: Run, out: Path):
    about = json.loads((run.folder / "run.json").read_text())
    about["asked"]["api_key"] = "hunter2"
    (run.folder / "run.json").write_text(json.dumps(about))
    tail = ["vllm serve m --api-key hunter2 --port 1", "HF_TOKEN=hunter2"]
    bad = {"error": "HTTP 401 for http://me:hunter2@host/"}
    with (run.folder / "events.jsonl").open("a") as events:
        events.write(json.dumps({"t": 99.0, "type": "refused", "arm": "pd", "log_tail": tail}) + "\n")
        events.write(json.dumps({"t": 99.5, "type": "step", "step": bad, "chunks": []}) + "\n")
    (run.folder / "logs" / "engine.log").write_text("Authorization: Bearer hunter2\nready\n")
    (path,) = export(run, FOLDER, out)
    with zipfile.ZipFile(path) as archive:
        texts = {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}
    assert not [name for name, text in texts.items() if "hunter2" in text]
    assert texts[f"{run.id}/logs/engine.log"].endswith("ready\n")
    assert '"type": "step"' in texts[f"{run.id}/events.jsonl"]


def test_the_errors_in_the_table_of_an_older_folder_are_masked_and_nothing_else(run: Run, out: Path, tmp_path: Path):
    path = run.folder / "steps.parquet"
    table = pq.read_table(path)
    at = table.schema.get_field_index("error")
    errors = pa.array(["HTTP 401 for http://me:hunter2@host/", *[None] * (table.num_rows - 1)], pa.string())
    pq.write_table(table.set_column(at, table.schema.field(at), errors), path)
    (zipped,) = export(run, FOLDER, out)
    again = RunStore(tmp_path / "elsewhere").open(zipped)
    assert again.parquet("steps")
    assert again.steps()["error"][0] == f"HTTP 401 for http://{MASK}@host/"
    pd.testing.assert_frame_equal(again.steps().drop(columns="error"), run.steps().drop(columns="error"))


def test_a_run_that_goes_on_is_packed_up_to_its_last_whole_line(store: RunStore, out: Path):
    with store.create("replay", {"arms": ["base"]}, {}) as writer:
        writer.step(step("base", 1, run=writer.id), [])
        with (writer.folder / "events.jsonl").open("a") as events:
            events.write('{"t": 1.0, "type": "ste')
        (path,) = export(store.open(writer.id), FOLDER, out)
        with zipfile.ZipFile(path) as archive:
            assert archive.read(f"{writer.id}/events.jsonl").endswith(b"}\n")
    assert len(store.open(path).steps()) == 1


def test_nothing_half_written_is_left_behind(run: Run, out: Path):
    def broken(_: object) -> None:
        raise BadInput("disk", "full", "room")

    with pytest.raises(BadInput):
        export(run, FOLDER, out, on_progress=broken)
    assert not list(out.glob("*")) if out.exists() else True


def test_the_folder_is_not_among_all(store: RunStore, out: Path):
    files = export(a_rich_run(store), "all", out, on_progress=silent)
    assert not any(path.suffix == ".zip" for path in files)
