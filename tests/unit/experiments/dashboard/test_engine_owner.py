"""Which run left an engine behind, asked at every look of a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.engines.starting import this_process
from labkit.experiments.dashboard.engines.owner import run_started_by
from labkit.store.layout import EVENTS
from labkit.store.runs import RunStore


def test_a_run_that_did_not_change_is_not_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    run = RunStore().create("quick", {}, {})
    assert run_started_by(this_process()) == run.id
    events = run.folder / EVENTS
    events.write_bytes(b"x" * events.stat().st_size)  # who opens it now finds no run
    assert run_started_by(this_process()) == run.id
    later = RunStore().create("steps", {}, {})
    assert run_started_by(this_process()) == later.id
