"""nvidia-ml-py over a stub of NVML: the same names where NVML tells the same, a gauge where it has no accumulator."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from telemetry_stubs import ask, nvml_folder

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc: apt-get install gcc")


@pytest.fixture(scope="module")
def nvml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return nvml_folder(tmp_path_factory.mktemp("nvidia"))


def nvidia(nvml: Path, gpu: str, reads: int = 3) -> dict[str, Any]:
    return ask("nvidia", "nvidia_source", reads, LD_LIBRARY_PATH=str(nvml), STUB_GPU=gpu)


def series(told: dict[str, Any], name: str) -> list[float | None]:
    return [reading["value"] for read in told["reads"] for reading in read if reading["name"] == name]


def test_gauges_in_their_units(nvml: Path) -> None:
    told = nvidia(nvml, "hopper", reads=1)
    of_one = {
        reading["name"].removeprefix("gpu1/"): (reading["value"], reading["unit"])
        for reading in told["reads"][0]
        if reading["name"].startswith("gpu1/")
    }
    assert of_one == {
        "energy": (0, "J"), "power": (141, "W"), "gfx_busy_gauge": (0.8, "1"), "memory_busy_gauge": (0.4, "1"),
        "vram_used": (2e9, "bytes"), "vram_total": (150_754_820_096, "bytes"), "gpu_temperature": (62, "C"),
        "hbm_temperature": (52, "C"), "gfx_clock": (1980, "MHz"), "memory_clock": (3201, "MHz"),
        "link_read": (0, "bytes"), "link_written": (0, "bytes"), "pcie_rate": (1.5e6, "bytes/s"),
    }  # fmt: skip
    assert told["missing"] == [{}, {}]


def test_nvlink_counts_kibibytes_from_the_runs_start(nvml: Path) -> None:
    told = nvidia(nvml, "hopper")
    assert series(told, "gpu0/link_read") == [0, 10 * 1024, 20 * 1024]
    assert series(told, "gpu0/link_written") == [0, 20 * 1024, 40 * 1024]


def test_what_is_known_of_a_gpu_once_and_for_all(nvml: Path) -> None:
    first, second = nvidia(nvml, "hopper", reads=1)["facts"]
    assert (first["bdf"], second["bdf"]) == ("0000:1b:00.0", "0000:43:00.0")
    assert (first["market_name"], first["device_id"], first["architecture"]) == ("NVIDIA H200", "0x2335", "sm_90")
    assert (first["driver"], first["library"], second["indices"]) == ("580.65", "NVML 13.580.65", [1])


def test_an_older_gpu_says_what_it_has_not(nvml: Path) -> None:
    told = nvidia(nvml, "volta")
    assert series(told, "gpu0/link_read") == series(told, "gpu0/hbm_temperature") == [None] * 3
    assert series(told, "gpu0/gfx_busy_gauge") == [0.4] * 3
    assert told["missing"][0] == dict.fromkeys(("hbm_temperature", "link_read", "link_written"), "Not Supported")


def test_one_that_is_lost_does_not_take_the_other_with_it(nvml: Path) -> None:
    told = nvidia(nvml, "falls", reads=5)
    assert series(told, "gpu0/energy") == [0, 2.5, 5, 7.5, 10]
    assert series(told, "gpu1/energy") == [0, None, None, 7.5, 10]
    assert series(told, "gpu1/vram_used") == [2e9, None, None, 2e9, 2e9]
