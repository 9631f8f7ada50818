"""amdsmi's own Python package over a stub of its library: what each generation tells, and what refusals are called."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from telemetry_stubs import amd_environment, ask, in_a_process, rocm_folder

from labkit.telemetry.gpus.amd_words import import_words

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc: apt-get install gcc")

FIRST, SECOND = "0000:05:00.0", "0000:0a:00.0"
LAYOUT = """
import ctypes, contextlib, io
with contextlib.redirect_stdout(io.StringIO()):
    from amdsmi import amdsmi_wrapper
stub = amdsmi_wrapper._libraries["libamd_smi.so"].stub_size_of_metrics()
print([stub, ctypes.sizeof(amdsmi_wrapper.amdsmi_gpu_metrics_t)])
"""

COST = """
import statistics, time
from labkit.telemetry.amd import amd_source
gpu, took = amd_source().gpus[0], []
for _ in range(100):
    before = time.thread_time()
    gpu.look()
    took.append(time.thread_time() - before)
print(statistics.median(took))
"""


@pytest.fixture(scope="module")
def rocm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rocm_folder(tmp_path_factory.mktemp("rocm"))


def amd(rocm: Path, gpu: str, reads: int = 3) -> dict[str, Any]:
    return ask("amd", "amd_source", reads, **amd_environment(rocm, gpu))


def series(told: dict[str, Any], name: str) -> list[float | None]:
    return [reading["value"] for read in told["reads"] for reading in read if reading["name"] == name]


def missing(told: dict[str, Any]) -> dict[str, str]:
    """Of both GPUs, which have to lack the same."""
    one, two = told["missing"]
    assert one == two
    return one  # type: ignore[no-any-return]


def test_the_stubs_table_is_laid_out_as_the_packages(rocm: Path) -> None:
    stub, package = json.loads(in_a_process(LAYOUT, **amd_environment(rocm, "mi300")))
    assert stub == package


def test_mi300_shares_come_from_the_accumulators_across_their_overflow(rocm: Path) -> None:
    """The gauge flips between 0 and 100 from look to look; 25 and 50 % of each second were planted."""
    told = amd(rocm, "mi300")
    assert series(told, f"{FIRST}/gfx_busy") == [0.25] * 3
    assert series(told, f"{SECOND}/gfx_busy") == [0.5] * 3
    assert series(told, f"{SECOND}/memory_busy") == [0.2] * 3
    assert missing(told) == {}


def test_mi300_counts_bytes_over_all_links_from_the_runs_start(rocm: Path) -> None:
    """At each look 100 * (1 + ... + 7) KB more were read, and 7 * 50 KB a GPU written; the eighth link is not there."""
    told = amd(rocm, "mi300")
    assert series(told, f"{FIRST}/link_read") == [0, 2800 * 1024, 5600 * 1024]
    assert series(told, f"{SECOND}/link_written") == [0, 700 * 1024, 1400 * 1024]


def test_mi300_gauges_in_their_units(rocm: Path) -> None:
    told = amd(rocm, "mi300", reads=1)
    last = {reading["name"]: (reading["value"], reading["unit"]) for reading in told["reads"][0]}
    assert last[f"{SECOND}/vram_used"] == (2_000_000_002, "bytes")
    assert last[f"{SECOND}/vram_total"] == (206_141_652_992, "bytes")
    assert last[f"{SECOND}/hotspot"] == (52, "C")
    assert last[f"{SECOND}/hbm_temperature"] == (42, "C")
    assert last[f"{SECOND}/gfx_clock"] == (2035, "MHz")
    assert last[f"{SECOND}/memory_clock"] == (1300, "MHz")
    assert last[f"{SECOND}/pcie_rate"] == (2e9, "bytes/s")
    assert last[f"{SECOND}/power"] == (200, "W")


def test_what_is_known_of_a_gpu_once_and_for_all(rocm: Path) -> None:
    """HIP counts the other way round than the bus here."""
    first, second = amd(rocm, "mi300", reads=1)["facts"]
    assert first["bdf"] == FIRST
    assert (first["market_name"], first["device_id"], first["architecture"]) == (
        "AMD Instinct MI300X",
        "0x74a1",
        "gfx942",
    )
    assert (first["compute_units"], first["compute_partition"], first["memory_partition"]) == (304, "SPX", "NPS1")
    assert (first["driver"], first["library"], first["metrics"]) == ("6.14.14", "amdsmi 7.0.2", "1.6")
    assert (first["power"], first["indices"], second["indices"]) == ("current", [1], [0])


def test_mi200_has_an_average_power_one_clock_and_no_links(rocm: Path) -> None:
    """Fields that an old table was widened into hold 65535 and 4294967295, which the package lets through."""
    told = amd(rocm, "mi200")
    assert series(told, f"{SECOND}/power") == [60] * 3
    assert series(told, f"{SECOND}/gfx_busy") == [0.5] * 3
    assert series(told, f"{SECOND}/gfx_clock") == [1700] * 3
    assert series(told, f"{SECOND}/hbm_temperature") == [63] * 3
    assert series(told, f"{SECOND}/link_read") == series(told, f"{SECOND}/pcie_rate") == [None] * 3
    assert missing(told) == dict.fromkeys(("link_read", "link_written", "pcie_rate"), "the driver tells N/A")
    facts = told["facts"][0]
    assert (facts["power"], facts["metrics"], facts["compute_partition"], facts["indices"]) == (
        "average",
        "1.3",
        None,
        [0],
    )


def test_without_the_firmwares_clock_there_is_no_share_and_the_gauge_is_no_stand_in(rocm: Path) -> None:
    told = amd(rocm, "mi100")
    assert series(told, f"{FIRST}/gfx_busy") == [None] * 3
    assert missing(told)["gfx_busy"].startswith(
        "the driver's table has no accumulator of activity, or no firmware clock"
    )
    assert series(told, f"{FIRST}/power") == [30] * 3


def test_a_partitioned_gpu_is_read_once_and_is_two_devices_of_hip(rocm: Path) -> None:
    told = amd(rocm, "cpx")
    assert told["devices"] == [FIRST, SECOND]
    assert [facts["indices"] for facts in told["facts"]] == [[3, 2], [1, 0]]
    assert told["facts"][0]["compute_partition"] == "CPX"
    assert series(told, f"{FIRST}/energy") == pytest.approx([0, 15.259, 30.518])


def test_one_call_that_is_not_supported_is_null_from_the_start_and_named(rocm: Path) -> None:
    told = amd(rocm, "partial")
    assert series(told, f"{FIRST}/vram_used") == [None] * 3
    assert series(told, f"{FIRST}/gfx_busy") == [0.25] * 3
    said = "not supported by this GPU or this driver (2 | AMDSMI_STATUS_NOT_SUPPORTED - Feature not supported)"
    assert missing(told) == {"vram_used": said}


def test_a_table_of_an_unknown_version_leaves_the_power(rocm: Path) -> None:
    told = amd(rocm, "mismatch")
    assert series(told, f"{SECOND}/power") == [60] * 3
    assert series(told, f"{SECOND}/energy") == []
    assert series(told, f"{SECOND}/hotspot") == [None] * 3
    assert missing(told)["hotspot"].startswith("the library cannot read this driver's table of metrics; amdsmi and the")


def test_one_that_falls_off_does_not_take_the_other_with_it(rocm: Path) -> None:
    """Its looks 3 and 4 fail, of which the second reading is the first; the share needs two looks again."""
    told = amd(rocm, "falls", reads=5)
    assert series(told, f"{FIRST}/gfx_busy") == [0.25] * 5
    assert series(told, f"{SECOND}/gfx_busy") == [0.5, None, None, None, 0.5]
    assert series(told, f"{SECOND}/vram_used") == [2_000_000_002, None, None, 2_000_000_005, 2_000_000_006]
    joules = [0, None, None, 3 * 15.259, 4 * 15.259]
    assert [j and pytest.approx(j) for j in joules] == series(told, f"{SECOND}/energy")


def test_a_table_that_is_told_no_more_is_a_fault_and_not_a_quiet_null(rocm: Path) -> None:
    """What is told without it (memory, power of another call) would stand in for it unseen."""
    told = amd(rocm, "tableless", reads=2)
    assert series(told, f"{FIRST}/vram_used") == [1_000_000_002, None]
    assert series(told, f"{FIRST}/power") == [100, None]
    assert told["failed"] == {}


@pytest.mark.parametrize(
    ("gpu", "said"),
    [
        ("none", "no AMD driver: the driver amdgpu is not loaded (see `lsmod` and `dmesg`) (34 | AMDSMI_STATUS_DRIVER"),
        ("noperm", "no AMD driver: permission denied: the user has to be in the groups `video` and `render`"),
        ("denied", "2 GPUs, none of which tells anything: permission denied: the user has to be in the groups"),
        ("silent", "2 GPUs, none of which tells anything: not supported by this GPU or this driver (2 |"),
        (
            "na",
            "2 GPUs, none of which tells anything: the driver tells every metric as N/A: amdsmi and the driver have",
        ),
    ],
)
def test_what_keeps_all_of_them_from_being_read(rocm: Path, gpu: str, said: str) -> None:
    told = amd(rocm, gpu)
    assert told["unread"].startswith(said)
    assert told["printed"] == ""


def test_no_library_and_one_of_another_version(tmp_path: Path) -> None:
    told = ask("amd", "amd_source", ROCM_PATH=str(tmp_path), ROCM_HOME=str(tmp_path))
    assert told["unread"] == import_words(KeyError("libamd_smi.so"))  # as it is where nobody makes an ImportError of it
    assert told["unread"].startswith("its library libamd_smi.so was not found: it comes with ROCm")
    assert told["printed"] == ""
    old = rocm_folder(tmp_path / "old", without="amdsmi_get_gpu_enumeration_info")
    told = amd(old, "mi300")
    assert told["unread"].startswith("its library libamd_smi.so is of another version than the package amdsmi: ")
    assert "undefined symbol: amdsmi_get_gpu_enumeration_info" in told["unread"]


@pytest.mark.alone
def test_looks_at_eight_gpus_hold_the_interpreter_for_less_than_five_milliseconds(rocm: Path) -> None:
    """They run in threads, but turning a table into Python takes the lock, and in that time no chunk is stamped."""
    median_s = json.loads(in_a_process(COST, **amd_environment(rocm, "mi300")))
    assert 8 * median_s < 0.005
