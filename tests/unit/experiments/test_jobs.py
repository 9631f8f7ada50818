"""Which job a page is about, and what happens when others write and end beside it."""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from labkit.core.arms import ARMS
from labkit.engines.process import ProcessState
from labkit.experiments import jobs, live, steering, warm


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("RUNS", "STATE"):
        monkeypatch.setenv(f"LABKIT_{variable}", str(tmp_path / variable.lower()))
    return tmp_path / "state"


def test_a_later_job_does_not_hide_the_live_run_that_can_be_steered():
    of_live, later = jobs.enlist("live", {"profile": "p"}), jobs.enlist("replay", {"profile": "p"})
    assert jobs.newest() == later
    for going in (live.active_job(), live.running_live()):
        assert going is not None
        assert going.job == of_live


def test_a_job_that_is_no_live_run_keeps_the_machine_busy_too():
    assert live.active_job() is live.newest_job() is None
    job = jobs.enlist("replay", {"profile": "p"})
    assert live.running_live() is None
    assert (going := live.active_job()) is not None
    assert going.job == job


def test_for_the_newest_job_no_other_one_is_read(state: Path):
    jobs.enlist("live", {"profile": "p"})
    for file in (state / "jobs").glob("*/job.json"):
        file.write_text("damaged")
    last = jobs.enlist("replay", {"profile": "p"})
    assert live.newest_job().job == last


def test_who_ends_just_before_it_is_told_to_is_no_error():
    with subprocess.Popen(["true"]) as gone:
        process = ProcessState(role="job", pid=gone.pid, created=psutil.Process(gone.pid).create_time())
    jobs._interrupt(process)


def test_many_may_wish_at_once_and_the_run_reads_a_whole_wish(state: Path):
    wishes, heard = steering.Wishes("job"), []
    with ThreadPoolExecutor(8) as hands:
        asked = [hands.submit(steering.ask, "job", arm) for _ in range(20) for arm in ARMS]
        while not all(each.done() for each in asked):
            heard.append(wishes())
            time.sleep(0.001)
    assert [error for each in asked if (error := each.exception())] == []
    assert set(heard) <= {*ARMS, None}
    assert [file.name for file in (state / "jobs" / "job").iterdir()] == ["wish.json"]


@pytest.mark.parametrize("half", ["", '{"role": "warm"', '{"role": "warm"}'])
def test_a_start_whose_file_is_half_written_is_no_error(half: str):
    log = warm.log_of_key("key")
    log.parent.mkdir(parents=True)
    log.with_suffix(".json").write_text(half)
    assert not warm.is_starting("key")
