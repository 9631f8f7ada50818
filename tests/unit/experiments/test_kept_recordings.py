"""A run's folder holds what it replayed, once, and what each arm answered, so that it can be read elsewhere."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import factorials
import pytest

from labkit.core.errors import BadInput
from labkit.engines.fake import FakeDials, FakeEngine, Fault
from labkit.experiments.kept_recordings import keep_recordings, recording_of
from labkit.store.runs import RunStore
from labkit.traffic.recording import RecordedStep, list_recordings, load, named, sha256
from labkit.traffic.several import split


async def replayed(tmp_path: Path, **dials: object):
    source = factorials.saved(tmp_path, "one", "two")
    async with FakeEngine(FakeDials(block_size=factorials.BLOCK, **dials)) as engine:
        urls = {"base": engine.base_url, "prefix": engine.base_url}
        done = await factorials.run(
            factorials.asked(source, "base", "prefix"), factorials.static(urls), tmp_path / "runs"
        )
    return source, done


async def test_each_recording_is_kept_whole_and_once(tmp_path: Path):
    source, run = await replayed(tmp_path)
    assert split(run.recordings()) == [load(Path(path)) for path in source]
    kept = recording_of(run, "two")
    assert kept is not None
    assert sha256(kept) == run.info.fingerprint["recordings"]["two"]


async def test_every_measured_step_has_its_reply(tmp_path: Path):
    _, run = await replayed(tmp_path)
    steps = factorials.measured(run)
    said = {(each.arm, each.recording, each.turn): each for each in run.replies() if each.recording in ("one", "two")}
    assert len(said) == len(steps) == 12
    assert all(each.reply["role"] == "assistant" and each.reply["content"] for each in said.values())
    assert not any(each.append for each in said.values())  # the recording holds it


async def test_what_had_arrived_of_a_reply_that_broke_off_is_kept(tmp_path: Path):
    source = factorials.saved(tmp_path, "one")
    async with FakeEngine(
        FakeDials(block_size=factorials.BLOCK, fault=Fault(kind="die_mid_stream", every=4))
    ) as engine:
        run = await factorials.run(
            factorials.asked(source, "base"), factorials.static({"base": engine.base_url}), tmp_path / "runs"
        )
    failed = run.steps()["t_send"][run.steps()["error"].notna()]
    assert len(failed)
    assert set(failed) <= {said.t_send for said in run.replies()}


async def test_a_resumed_run_keeps_nothing_twice(tmp_path: Path):
    source, run = await replayed(tmp_path)
    with RunStore(tmp_path / "runs").resume(run) as writer:
        keep_recordings(writer, [load(Path(path)) for path in source])
        keep_recordings(writer, [factorials.recording("three")])
    assert [each.header.name for each in split(run.recordings())] == ["one", "two", "three"]


def test_an_older_run_takes_the_shipped_recording_and_says_when_there_is_none(tmp_path: Path):
    with RunStore(tmp_path).create("replay", {}, {}) as writer:
        pass
    run = RunStore(tmp_path).open(writer.id)
    assert recording_of(run, list_recordings()[0]) == named(list_recordings()[0])
    assert recording_of(run, "gone") is None


@pytest.mark.parametrize("name", list_recordings())
def test_shipped_recordings_are_kept_as_they_are(name: str, tmp_path: Path):
    with RunStore(tmp_path).create("replay", {}, {}) as writer:
        keep_recordings(writer, [named(name)])
    assert split(RunStore(tmp_path).open(writer.id).recordings()) == [named(name)]


def test_a_secret_in_a_recording_is_masked_and_its_header_says_so(tmp_path: Path):
    plain = factorials.recording("one")
    step = dataclasses.replace(plain.steps[0], append=[{"role": "user", "content": "api_key=hunter2"}])
    with RunStore(tmp_path).create("replay", {}, {}) as writer:
        keep_recordings(writer, [dataclasses.replace(plain, steps=(step, *plain.steps[1:]))])
    kept = recording_of(RunStore(tmp_path).open(writer.id), "one")
    assert kept is not None
    assert "hunter2" not in str(kept)
    assert "masked" in kept.header.note


def test_lines_of_agents_at_once_are_no_recording():
    header, step = {"type": "recording", **factorials.recording("one").header.to_dict()}, RecordedStep.to_dict
    steps = [step(each) for each in factorials.recording("one").steps]
    assert split([header, header, steps[0], steps[0], steps[1]]) == []
    assert split([{"turn": 1}, {**header, "nonsense": 1}, *steps]) == [factorials.recording("one")]


def test_a_runs_file_is_not_taken_for_one_recording(tmp_path: Path):
    one, two = (Path(path).read_text() for path in factorials.saved(tmp_path, "one", "two"))
    (tmp_path / "recordings.jsonl").write_text(one + two)
    with pytest.raises(BadInput, match="2 recordings"):
        load(tmp_path / "recordings.jsonl")
