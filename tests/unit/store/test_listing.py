"""What is in a store, remembered: a folder is read again when it has changed; copies and examples keep apart."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import zipfile

import pytest

from labkit.core.arms import ARMS
from labkit.core.errors import LabError, RunUnreadable, UnknownName
from labkit.store.examples import examples
from labkit.store.layout import RUN, Owner, write_run_json
from labkit.store.listing import Listing
from labkit.store.runs import RunStore


@pytest.fixture
def store(tmp_path) -> RunStore:
    return RunStore(tmp_path / "runs")


def done(store) -> str:
    with store.create("quick", {"arms": ["base"]}, {}) as run:
        pass
    return run.id


def test_a_folder_that_has_not_changed_is_not_read_again(store):
    run = done(store)
    listing = Listing(store)
    before = listing.one(run)
    file = store.root / run / RUN
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    file.write_bytes(b"x" * file.stat().st_size)
    os.utime(file, ns=times)
    assert listing.one(run) is before
    os.utime(file)
    with pytest.raises(RunUnreadable):
        listing.one(run)


def test_many_runs_are_read_once(store):
    first = store.root / done(store)
    for n in range(99):
        shutil.copytree(first, store.root / f"{first.name}-{n}")
    listing = Listing(store)
    before, again = listing.newest(), listing.newest()
    assert len(again) == 100
    assert all(one is other for one, other in zip(before, again, strict=True))


def test_a_run_that_goes_on_is_seen_to_end(store):
    with store.create("quick", {}, {}) as run:
        listing = Listing(store)
        assert listing.one(run.id).live
    assert listing.one(run.id).info.state == "done"


def test_a_writer_that_died_without_a_word_is_noticed(store):
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    writer = store.create("quick", {}, {})
    owner = Owner(process.pid, time.time())
    write_run_json(writer.folder, writer.info, owner)
    listing = Listing(store)
    assert listing.one(writer.id).live
    process.communicate()
    assert listing.one(writer.id).info.state == "failed"
    writer.close()


def test_a_copy_is_called_by_its_folder(store):
    run = done(store)
    shutil.copytree(store.root / run, store.root / f"{run}-copy")
    seen = {each.name: each.copy for each in Listing(store).newest()}
    assert seen == {run: False, f"{run}-copy": True}
    assert Listing(store).one(f"{run}-copy").info.id == run


def test_a_short_end_opens_and_an_unknown_name_does_not(store):
    run = done(store)
    assert Listing(store).one(run.rsplit("-", 1)[-1]).name == run
    with pytest.raises(UnknownName, match="no run is called 'nothing'"):
        Listing(store).one("nothing")


def test_a_folder_that_does_not_open_is_named_with_the_reason(store):
    run = done(store)
    (store.root / run / RUN).write_text("{")
    listing = Listing(store)
    assert listing.newest() == []
    assert "cannot be read" in str(listing.broken()[run])
    with pytest.raises(RunUnreadable):
        listing.one(run)


def test_a_store_that_is_a_file_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match="is a file"):
        Listing(RunStore(tmp_path / "file")).newest()


def test_examples_stand_apart_until_somebody_unpacks_one(store, tmp_path, monkeypatch):
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path / "data"))
    run = done(store)
    (tmp_path / "data" / "runs").mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "data" / "runs" / f"{run}.zip", "w") as archive:
        for file in sorted((store.root / run).rglob("*")):
            archive.write(file, f"{run}/{file.relative_to(store.root / run)}")
    assert Listing(store).examples() == []
    (store.root / run).rename(tmp_path / "away")
    listing = Listing(store)
    assert [(seen.name, seen.example) for seen in listing.examples()] == [(run, True)]
    assert listing.newest() == []
    assert [listing.one(name).example for name in (run, "example")] == [True, True]
    assert [store.open(name).id for name in (run, "example")] == [run, run]


@pytest.mark.parametrize("name", examples())
def test_what_is_shipped_is_whole_and_names_no_machine(name, tmp_path):
    run = RunStore(tmp_path).open(name)
    assert run.problems() == []
    assert run.info.id == name
    assert len(run.steps())
    text = (run.folder / "events.jsonl").read_text() + (run.folder / RUN).read_text()
    assert re.findall(r'"/[^"]*"|/root\b|/home/|/work/|/tmp/', text) == []


def test_the_first_example_is_a_factorial_of_all_arms_and_tasks(tmp_path):
    steps = RunStore(tmp_path).open("example").steps()
    assert steps["arm"].nunique() == len(ARMS)
    assert steps["task"].nunique() > 4
