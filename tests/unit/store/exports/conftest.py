from pathlib import Path

import pytest
from export_runs import a_rich_run

from labkit.store.runs import Run, RunStore


@pytest.fixture
def run(store: RunStore) -> Run:
    return a_rich_run(store)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"
