"""Devices of one library of which some tell nothing: all of them are kept, so that a part does not pass for all."""

from pathlib import Path

import pytest
from builders import a_step, frame_of

from labkit.analysis.energy import joules
from labkit.core.clock import FakeClock
from labkit.core.records import SampleRecord
from labkit.telemetry.devices import EnergySource, Unreadable
from labkit.telemetry.energy import find_energy
from labkit.telemetry.rapl import rapl_source
from labkit.telemetry.sampler import Sampler


class Gpu:
    """Draws 100 W on a counter, unless it is silent."""

    wraps_at_j = None

    def __init__(self, name: str, clock: FakeClock, *, silent: bool = False) -> None:
        self.name, self._clock, self.silent = name, clock, silent

    def energy_j(self) -> float | None:
        return None if self.silent else 100.0 * self._clock.now()

    def power_w(self) -> float | None:
        return None


async def test_one_of_eight_that_tells_nothing_makes_the_sum_null_and_is_named() -> None:
    clock = FakeClock(0.0)
    source = EnergySource("nvml", [Gpu(f"gpu{n}", clock, silent=n == 3) for n in range(8)])
    assert len(source.devices) == 8
    assert source.unread == ("gpu3",)
    kept: list[SampleRecord] = []
    sampler = Sampler("r", [source], kept.extend, t0=0.0, clock=clock)
    for _ in range(5):
        await sampler.sample()
        clock.advance(1.0)
    (row,) = joules(frame_of(kept, SampleRecord), frame_of([a_step(t_send=1.0, t_end=3.0)])).to_dict("records")
    assert row["joules"] != row["joules"]
    assert row["why"] == "nvml gpu3: no unbroken samples from 1.0 to 3.0 s"
    assert "gpu3" in row["source"]


async def test_all_that_can_be_read_are_summed() -> None:
    clock = FakeClock(0.0)
    source = EnergySource("nvml", [Gpu(f"gpu{n}", clock) for n in range(8)])
    assert source.unread == ()
    await source.read()
    clock.advance(2.0)
    assert [reading.value for reading in await source.read()] == [200.0] * 8


def test_none_of_them_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="2 devices, none of which"):
        EnergySource("nvml", [Gpu(f"gpu{n}", FakeClock(0.0), silent=True) for n in range(2)])


async def test_a_package_whose_file_is_closed_is_named_with_its_library(tmp_path: Path) -> None:
    for number in range(2):
        folder = tmp_path / f"intel-rapl:{number}"
        folder.mkdir()
        (folder / "name").write_text(f"package-{number}\n")
        (folder / "max_energy_range_uj").write_text("1000000\n")
        (folder / "energy_uj").write_text("5\n") if number == 0 else (folder / "energy_uj").mkdir()
    assert rapl_source(tmp_path).devices == ("package-0", "package-1")
    found = find_energy(tmp_path)
    assert "rapl" in [source.name for source in found.sources]
    assert found.unread["rapl"] == "package-1: told neither energy nor power at the start"
