"""Counters that overflow, and RAPL's files as a machine has them."""

from pathlib import Path

import pytest

from labkit.telemetry.counter import Rising
from labkit.telemetry.devices import EnergySource, Unreadable
from labkit.telemetry.energy import energy_sources, find_energy
from labkit.telemetry.rapl import rapl_source

TOP_UJ = 262_143_328_850


def domain(root: Path, folder: str, name: str, energy_uj: int) -> Path:
    (root / folder).mkdir(parents=True)
    (root / folder / "name").write_text(f"{name}\n")
    (root / folder / "max_energy_range_uj").write_text(f"{TOP_UJ}\n")
    (root / folder / "energy_uj").write_text(f"{energy_uj}\n")
    return root / folder / "energy_uj"


@pytest.fixture
def powercap(tmp_path: Path) -> Path:
    """Two packages, of which the first has its cores and its memory apart, and the whole board."""
    domain(tmp_path, "intel-rapl:0", "package-0", 1_000_000)
    domain(tmp_path, "intel-rapl:0:0", "core", 500_000)
    domain(tmp_path, "intel-rapl:0:1", "dram", 2_000_000)
    domain(tmp_path, "intel-rapl:1", "package-1", 3_000_000)
    domain(tmp_path, "intel-rapl:2", "psys", 9_000_000)
    return tmp_path


async def values(source: EnergySource) -> dict[str, float | None]:
    return {reading.name: reading.value for reading in await source.read()}


def test_a_counter_starts_at_nothing_and_survives_its_overflow() -> None:
    counter = Rising(wraps_at=100.0)
    assert [counter.total(reading) for reading in (90.0, 95.0, 10.0, None, 30.0)] == [0, 5, 20, None, 40]


def test_a_counter_that_was_reset_says_so_once() -> None:
    counter = Rising()
    assert [counter.total(reading) for reading in (5.0, 7.0, 1.0, 4.0)] == [0, 2, None, 5]


async def test_packages_and_memory_are_read_and_nothing_twice(powercap: Path) -> None:
    source = rapl_source(powercap)
    assert source.devices == ("package-0", "dram-0", "package-1")
    assert await values(source) == {"package-0/energy": 0, "dram-0/energy": 0, "package-1/energy": 0}
    (powercap / "intel-rapl:0" / "energy_uj").write_text("3500000")
    assert (await values(source))["package-0/energy"] == pytest.approx(2.5)


async def test_an_overflow_between_two_readings(powercap: Path) -> None:
    energy = powercap / "intel-rapl:1" / "energy_uj"
    energy.write_text(str(TOP_UJ - 1_000_000))
    source = rapl_source(powercap)
    await source.read()
    energy.write_text("500000")
    assert (await values(source))["package-1/energy"] == pytest.approx(1.5)


async def test_a_file_that_goes_away_reads_as_null(powercap: Path) -> None:
    source = rapl_source(powercap)
    (powercap / "intel-rapl:0" / "energy_uj").unlink()
    got = await values(source)
    assert got["package-0/energy"] is None
    assert got["package-1/energy"] == 0


def test_no_rapl_and_rapl_for_root_alone_are_said(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"no intel-rapl in .*: a virtual machine"):
        rapl_source(tmp_path)
    closed = domain(tmp_path, "intel-rapl:0", "package-0", 1)
    closed.unlink()
    closed.mkdir()  # cannot be read, by root either
    with pytest.raises(Unreadable, match="cannot be read; as root: chmod"):
        rapl_source(tmp_path)


def test_what_cannot_be_read_is_left_out_with_its_reason(powercap: Path, tmp_path: Path) -> None:
    found = find_energy(powercap)
    assert "rapl" in [source.name for source in found.sources]
    assert "rapl" in find_energy(tmp_path / "nothing").unread
    assert all(found.unread.values())
    assert {source.name for source in energy_sources(powercap)} | set(found.unread) == {"amdsmi", "nvml", "rapl"}
