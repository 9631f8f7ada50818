"""Writing runs, finding them, opening them: the ordinary ways."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from builders import a_sample, a_step, chunks_at

from labkit.core.clock import FakeClock
from labkit.core.columns import columns_of
from labkit.core.errors import BadInput, LabError, RunUnreadable, UnknownName
from labkit.core.records import SCHEMA, ChunkRecord, SampleRecord, StepRecord
from labkit.store.runs import RunStore


def finished(store: RunStore, *steps: int, experiment: str = "quick") -> str:
    with store.create(experiment, {"steps": len(steps)}, {"python": "3.11"}) as run:
        for turn in steps:
            step = a_step(run.id, turn=turn, prompt_tokens=100 * turn)
            run.step(step, chunks_at(step, 1.1, 1.2))
    return run.id


def test_what_is_written_is_read_back(store: RunStore):
    with store.create("quick", {"arms": ["base"]}, {"cores": 2}) as run:
        step = a_step(run.id, cached_tokens=None, prompt_tokens=64, tool_name="größe 大")
        chunks = chunks_at(step, 1.25, 1.5)
        run.step(step, chunks)
        run.samples([a_sample(run.id), a_sample(run.id, value=None)])
    opened = store.open(run.id)
    assert opened.info.state == "done"
    assert opened.info.asked == {"arms": ["base"]}
    assert opened.info.fingerprint == {"cores": 2}
    assert opened.problems() == []
    assert [StepRecord.from_dict(r) for r in opened.arrow("steps").to_pylist()] == [step]
    assert [ChunkRecord.from_dict(r) for r in opened.arrow("chunks").to_pylist()] == chunks
    assert [v["value"] for v in opened.arrow("telemetry").to_pylist()] == [50.0, None]


@pytest.mark.parametrize(
    ("table", "record"), [("steps", StepRecord), ("chunks", ChunkRecord), ("samples", SampleRecord)]
)
def test_frames_have_the_declared_columns_even_when_empty(store: RunStore, table: str, record: type):
    with store.create("quick", {}, {}):
        pass
    frame = getattr(store.open("latest"), table)()
    assert list(frame.columns) == [c.name for c in columns_of(record)]
    for column in columns_of(record):
        integer = "Int64" if column.nullable else "int64"
        expected = integer if column.dtype == "int64" else column.dtype
        assert str(frame[column.name].dtype) == expected


def test_a_run_in_progress_is_read_from_its_events(store: RunStore):
    run = store.create("quick", {}, {})
    opened = store.open(run.id)
    assert opened.live
    assert opened.steps().empty
    run.step(a_step(run.id))
    run.step(a_step(run.id, turn=2))
    assert opened.steps()["turn"].tolist() == [1, 2]
    run.step(a_step(run.id, turn=3))
    assert opened.steps()["turn"].tolist() == [1, 2, 3]
    run.finish("partial", "two arms missing")
    assert not opened.live
    assert (opened.info.state, opened.info.note) == ("partial", "two arms missing")
    assert opened.steps().equals(store.open(run.id).steps())


def test_events_are_followed_from_where_one_stopped(store: RunStore, clock: FakeClock):
    run = store.create("quick", {}, {})
    clock.advance(2.5)
    run.event("stage", name="starting pd", path=Path("a/b"), bad=float("nan"))
    opened = store.open(run.id)
    first = opened.events()
    assert [e["type"] for e in first] == ["run", "stage"]
    assert (first[1]["t"], first[1]["path"], first[1]["bad"]) == (2.5, "a/b", None)
    assert opened.events(after=first[-1]["next"]) == []
    run.event("stage", name="warm")
    assert [e["name"] for e in opened.events(after=first[-1]["next"])] == ["warm"]
    run.close()


def test_names(store: RunStore, clock: FakeClock):
    first = finished(store, 1)
    clock.advance(60)
    second = finished(store, 1, 2, experiment="matrix")
    assert [info.id for info in store.list()] == [second, first]
    assert store.open("latest").id == second
    assert store.open(first[:22]).id == first
    assert store.open(first[-6:]).id == first
    assert store.open(store.root / first).id == first
    assert store.open(str(store.root / first)).id == first
    assert first.split("-")[0] == "20270115T080000Z"
    with pytest.raises(UnknownName, match=second) as unknown:
        store.open("matrx")
    assert "labkit runs" in unknown.value.hint
    with pytest.raises(BadInput, match="give more of the id"):
        store.open("2027")
    with pytest.raises(UnknownName):
        store.open("")


def test_a_folder_that_is_no_run_says_so(tmp_path: Path):
    with pytest.raises(RunUnreadable, match=r"is no run folder: it has no run\.json"):
        RunStore(tmp_path / "runs").open(str(tmp_path))


def test_a_file_in_the_place_of_the_runs_is_an_error_that_says_so(tmp_path: Path):
    (tmp_path / "runs").write_text("")
    with pytest.raises(LabError, match="is a file") as error:
        RunStore(tmp_path / "runs").list()
    assert "LABKIT_RUNS" in error.value.hint


@pytest.mark.parametrize("bad", ["", "../x", "Quick", "a b", "x" * 41])
def test_an_experiment_that_cannot_name_a_folder_is_refused(store: RunStore, bad: str):
    with pytest.raises(BadInput, match="experiment"):
        store.create(bad, {}, {})


def test_a_folder_is_moved_zipped_and_opened_elsewhere(store: RunStore, tmp_path: Path):
    run_id = finished(store, 1, 2)
    archive = shutil.make_archive(str(tmp_path / "mailed"), "zip", store.root, run_id)
    moved = shutil.move(store.root / run_id, tmp_path / "elsewhere")
    assert store.open(Path(moved)).steps()["turn"].tolist() == [1, 2]
    from_zip = store.open(archive)
    assert from_zip.id == run_id
    assert from_zip.steps()["turn"].tolist() == [1, 2]
    (tmp_path / "not.zip").write_text("no")
    with pytest.raises(RunUnreadable, match="cannot be unpacked"):
        store.open(tmp_path / "not.zip")


def test_an_exception_ends_the_run_as_what_it_is(store: RunStore):
    def end_with(error: BaseException) -> tuple[str, str]:
        with pytest.raises(type(error)), store.create("quick", {}, {}) as run:
            raise error
        info = store.open(run.id).info
        return info.state, info.note

    assert end_with(KeyboardInterrupt()) == ("cancelled", "stopped by the user")
    assert end_with(asyncio.CancelledError()) == ("cancelled", "stopped by the user")
    assert end_with(LabError("no\nengine", "start one")) == ("failed", "LabError: no engine")


def test_an_ended_run_takes_nothing_more(store: RunStore):
    with store.create("quick", {}, {}) as run:
        pass
    with pytest.raises(LabError, match="has ended"):
        run.step(a_step(run.id))
    run.finish("failed")
    assert store.open(run.id).info.state == "done"


def test_values_that_their_column_cannot_hold_are_refused_at_once(store: RunStore):
    with store.create("quick", {}, {}) as run:
        for values in (
            {"prompt_tokens": 3.5},
            {"turn": None},
            {"turn": True},
            {"turn": 2**63},
            {"warmup": 1},
            {"t_send": float("nan")},
        ):
            with pytest.raises(BadInput, match=f"StepRecord.{next(iter(values))}"):
                run.step(a_step(run.id, **values))
        with pytest.raises(BadInput, match="belongs to the run"):
            run.step(a_step("another"))
        with pytest.raises(BadInput, match="Taken by the store"):
            run.event("step")
        with pytest.raises(BadInput, match="t and type"):
            run.event("stage", t=1)
        with pytest.raises(BadInput, match="JSON can hold"):
            run.event("stage", what=object())
        run.step(a_step(run.id, queue_s=float("nan")))
    opened = store.open(run.id)
    assert opened.arrow("steps").to_pylist()[0]["queue_s"] is None
    assert opened.problems() == []


def test_half_a_surrogate_pair_does_not_cost_the_run(store: RunStore):
    with store.create("quick", {}, {}) as run:
        run.event("note", text="cut \ud83d")
        run.step(a_step(run.id, error="cut \ud83d"))
    opened = store.open(run.id)
    assert opened.steps()["error"].tolist() == ["cut ?"]
    assert opened.events()[1]["text"] == "cut \ud83d"


def test_recordings_and_logs_are_kept_beside(store: RunStore):
    with store.create("record", {}, {}) as run:
        run.recording({"schema": 1, "type": "recording"})
        run.recording({"turn": 1})
        (run.log_dir / "decode.log").write_text("ready\n")
    opened = store.open(run.id)
    assert opened.recordings() == [{"schema": 1, "type": "recording"}, {"turn": 1}]
    assert [p.name for p in opened.logs()] == ["decode.log"]


def test_ten_thousand_steps(store: RunStore):
    with store.create("long", {}, {}) as run:
        for turn in range(10_000):
            step = a_step(run.id, turn=turn)
            run.step(step, chunks_at(step, 1.1, 1.2, 1.3))
    opened = store.open(run.id)
    assert len(opened.steps()) == 10_000
    assert len(opened.chunks()) == 30_000
    assert opened.steps()["turn"].is_monotonic_increasing


def test_a_root_that_cannot_be_written_says_so(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match="cannot be written") as error:
        RunStore(tmp_path / "file").create("quick", {}, {})
    assert "LABKIT_RUNS" in error.value.hint
    assert RunStore(tmp_path / "nothing here").list() == []


def test_run_json_says_schema_and_writer(store: RunStore):
    run_id = finished(store)
    data = json.loads((store.root / run_id / "run.json").read_text())
    assert data["schema"] == SCHEMA
    assert data["writer"]["pid"] > 0
