"""The real amdsmi and nvidia-ml-py packages, over C libraries that answer as their drivers do: joules and watts."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from telemetry_stubs import amd_environment, ask, nvml_folder, rocm_folder

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc: apt-get install gcc")


@pytest.fixture(scope="module")
def rocm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rocm_folder(tmp_path_factory.mktemp("rocm"))


@pytest.fixture(scope="module")
def nvml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nvml_folder(tmp_path_factory.mktemp("nvidia"))


def values(told: dict[str, Any], name: str) -> list[float | None]:
    return [reading["value"] for read in told["reads"] for reading in read if reading["name"] == name]


def amd(rocm: Path, gpu: str) -> dict[str, Any]:
    return ask("amd", "amd_source", HIP_VISIBLE_DEVICES="0", **amd_environment(rocm, gpu))


def nvidia(nvml: Path, gpu: str) -> dict[str, Any]:
    return ask("nvidia", "nvidia_source", LD_LIBRARY_PATH=str(nvml), STUB_GPU=gpu, CUDA_VISIBLE_DEVICES="0")


def test_mi300_counts_energy_in_its_own_unit_and_has_a_current_power(rocm: Path) -> None:
    told = amd(rocm, "mi300")
    assert told["devices"] == ["0000:05:00.0", "0000:0a:00.0"]  # all of the machine, HIP_VISIBLE_DEVICES or not
    assert values(told, "0000:05:00.0/energy") == pytest.approx([0, 15.259, 30.518])
    assert values(told, "0000:0a:00.0/power") == [200, 200, 200]
    units = {reading["name"].rpartition("/")[2]: reading["unit"] for read in told["reads"] for reading in read}
    assert (units["energy"], units["power"]) == ("J", "W")


def test_mi200_has_an_average_power_and_here_no_counter(rocm: Path) -> None:
    told = amd(rocm, "mi200")
    assert values(told, "0000:0a:00.0/power") == [60, 60, 60]
    assert values(told, "0000:0a:00.0/energy") == []


def test_nvidia_counts_millijoules_and_milliwatts(nvml: Path) -> None:
    told = nvidia(nvml, "volta")
    assert told["devices"] == ["gpu0", "gpu1"]
    assert values(told, "gpu1/energy") == pytest.approx([0, 2.5, 5.0])
    assert values(told, "gpu1/power") == pytest.approx([141, 141, 141])


def test_before_volta_there_is_power_alone(nvml: Path) -> None:
    told = nvidia(nvml, "pascal")
    assert values(told, "gpu0/energy") == []
    assert values(told, "gpu0/power") == pytest.approx([70.5, 70.5, 70.5])


def test_no_nvidia_driver_is_said(nvml: Path) -> None:
    assert nvidia(nvml, "none")["unread"].startswith("no NVIDIA driver: ")
