"""One table of metrics in our units, and the values that stand for none."""

from typing import Any

import pytest

from labkit.core import gpus
from labkit.telemetry.gpus.amd_metrics import accumulators, energy_ticks, gauges_and_counters, number, power_w, version

NOTHING = ("N/A", 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, None, True, -1)


@pytest.mark.parametrize("value", NOTHING)
def test_none_in_every_width_is_none(value: Any) -> None:
    assert number(value) is None
    table = dict.fromkeys(
        ("temperature_hotspot", "temperature_mem", "current_gfxclk", "current_uclk", "pcie_bandwidth_inst"), value
    )
    lists = {name: [value] * 8 for name in ("current_gfxclks", "xgmi_read_data_acc", "temperature_hbm")}
    assert set(gauges_and_counters({**table, **lists}).values()) == {None}
    assert power_w({"current_socket_power": value}, "current_socket_power") is None
    assert energy_ticks({"energy_accumulator": value}) is None
    assert accumulators({"gfx_activity_acc": value, "firmware_timestamp": value}) == (None, None, None)


def test_an_empty_table_tells_nothing() -> None:
    assert set(gauges_and_counters({}).values()) == {None}
    assert version({}) is None


def test_units() -> None:
    known = gauges_and_counters({
        "temperature_hotspot": 71, "temperature_mem": 55, "current_uclk": 1300, "pcie_bandwidth_inst": 8,
        "current_gfxclks": [2100, 1900, "N/A", "N/A", "N/A", "N/A", "N/A", "N/A"],
        "xgmi_read_data_acc": [3, 4, "N/A", 0, 0, 0, 0, 0], "xgmi_write_data_acc": [1] * 8,
    })  # fmt: skip
    assert known == {
        gpus.HOTSPOT: 71.0, gpus.HBM_TEMPERATURE: 55.0, gpus.GFX_CLOCK: 2000.0, gpus.MEMORY_CLOCK: 1300.0,
        gpus.PCIE_RATE: 1e6, gpus.LINK_READ: 7 * 1024.0, gpus.LINK_WRITTEN: 8 * 1024.0,
    }  # fmt: skip


def test_the_firmwares_clock_is_in_units_of_10_ns() -> None:
    table = {"gfx_activity_acc": 7, "mem_activity_acc": 9, "firmware_timestamp": 250_000_000}
    assert accumulators(table) == (7, 9, 2500.0)
    assert accumulators({**table, "firmware_timestamp": 0}).firmware_ms is None


def test_the_hottest_stack_and_not_one_that_the_driver_leaves_at_zero() -> None:
    assert gauges_and_counters({"temperature_hbm": [0, 61, 64, 0]})[gpus.HBM_TEMPERATURE] == 64
    assert gauges_and_counters({"temperature_hbm": [0] * 4, "temperature_mem": 50})[gpus.HBM_TEMPERATURE] == 50


def test_of_an_older_table_the_one_clock() -> None:
    assert gauges_and_counters({"current_gfxclks": ["N/A"] * 8, "current_gfxclk": 1700})[gpus.GFX_CLOCK] == 1700


def test_no_power_is_not_no_watts() -> None:
    assert power_w({"average_socket_power": 0}, "average_socket_power") is None
    assert power_w({"average_socket_power": 20_000}, "average_socket_power") is None
    assert power_w({"average_socket_power": 751}, "average_socket_power") == 751.0


def test_the_version_of_the_table() -> None:
    assert version({"common_header.format_revision": 1, "common_header.content_revision": 6}) == "1.6"
    assert version({"common_header.format_revision": "N/A", "common_header.content_revision": 6}) is None
