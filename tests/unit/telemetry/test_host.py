"""The machine, process trees and the client's own health, on real processes."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from labkit.telemetry.client_health import ClientHealth
from labkit.telemetry.cpu import MachineShare, Share, tree
from labkit.telemetry.host import HostSource
from labkit.telemetry.source import Reading, Source

pytestmark = pytest.mark.alone

BUSY = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"


@pytest.fixture
def busy() -> Iterator[int]:
    """A process that sleeps while its child computes."""
    process = subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True)
    yield process.pid
    os.killpg(process.pid, 9)
    process.wait()


async def values(source: Source) -> dict[str, float | None]:
    return {reading.name: reading.value for reading in await source.read()}


async def test_a_tree_is_measured_with_its_children(busy: int) -> None:
    source = HostSource({"engine": busy})
    first = await values(source)
    assert first["engine/cpu"] is first["cpu_percent"] is None
    await asyncio.sleep(1.0)
    second = await values(source)
    assert 0.1 < (second["engine/cpu"] or 0) < 1.5
    assert (second["engine/rss"] or 0) > 5e6
    assert 0 <= (second["cpu_percent"] or -1) <= 100
    assert (second["memory_available"] or 0) > 0


async def test_a_process_that_is_gone_reads_as_null() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])  # noqa: ASYNC220
    process.wait()
    source = HostSource({"engine": process.pid})
    await source.read()
    got = await values(source)
    assert got["engine/cpu"] is got["engine/rss"] is None


def test_share_of_a_tree_that_changes() -> None:
    share = Share()
    assert share.cores({(1, 0.0): 5.0}) is None
    time.sleep(0.1)
    cores = share.cores({(1, 0.0): 5.1, (2, 0.0): 0.1})
    assert cores is not None
    assert 0.2 / 2 < cores <= 0.2 / 0.1
    assert share.cores({}) is None


def test_machine_share_is_a_percentage() -> None:
    machine = MachineShare()
    assert machine.percent() is None
    time.sleep(0.05)
    assert 0 <= (machine.percent() or 0) <= 100


def test_no_such_process_is_an_empty_tree() -> None:
    assert tree(2**22 + 1).rss is None


async def test_a_blocked_loop_is_seen() -> None:
    async with ClientHealth() as health:
        await asyncio.sleep(0.1)
        await health.read()
        time.sleep(0.2)  # noqa: ASYNC251 (the fault that is to be seen)
        await asyncio.sleep(0.05)
        got = await values(health)
    assert (got["loop_lag_max"] or 0) >= 0.15
    assert (got["loop_lag_mean"] or 1) <= (got["loop_lag_max"] or 0)
    assert got["loop_lag_p50"] <= got["loop_lag_p99"] <= got["loop_lag_max"]
    assert got["loop_ticks"] >= 2
    assert (got["rss"] or 0) > 1e6


async def test_own_cpu_is_counted() -> None:
    async with ClientHealth() as health:
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        readings = await health.read()
    cpu = next(reading.value for reading in readings if reading.name == "cpu")
    assert cpu is not None
    assert 0 < cpu < os.cpu_count() + 0.5
    assert Reading("loop_lag_max", "s", None) in readings  # no tick came through
