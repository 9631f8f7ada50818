"""Where things live."""

from pathlib import Path

import pytest

from labkit.core.paths import data_dir, runs_dir

ROOT = Path(__file__).parents[3]


def test_runs_lie_in_the_checkout_whatever_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("LABKIT_RUNS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert runs_dir() == ROOT / "runs"
    assert data_dir() == ROOT / "data"


def test_a_variable_moves_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "mine"))
    assert runs_dir() == tmp_path / "mine"
