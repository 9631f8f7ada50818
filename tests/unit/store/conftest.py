from pathlib import Path

import pytest

from labkit.core.clock import FakeClock
from labkit.store.runs import RunStore


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_800_000_000.0)


@pytest.fixture
def store(tmp_path: Path, clock: FakeClock) -> RunStore:
    return RunStore(tmp_path / "runs", clock)
