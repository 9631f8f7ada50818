"""A job that is told to stop while it starts was stopped: it did not crash."""

from __future__ import annotations

import pytest

from labkit.experiments import jobs, live


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("LABKIT_STATE", str(tmp_path / "state"))


def test_stopped_before_it_had_begun():
    job = jobs.start("live", {"profile": "cpu-smollm2", "arms": ("base",), "recording": "ranks-that-jump-live"})
    assert jobs.status(job.id).state == "starting"
    ended = jobs.cancel(job.id, grace_s=20.0)
    assert (ended.run, ended.state) == (None, "cancelled")
    assert live.failed_early(ended, None)
    assert not live.is_active(ended)


def test_a_job_that_ends_by_itself_without_a_run_failed():
    job = jobs.start("live", {"profile": "no-such-profile", "arms": ("base",), "recording": "ranks-that-jump-live"})
    while jobs.status(job.id).state == "starting":
        pass
    assert jobs.status(job.id).state == "failed"
