"""AMD's table of metrics, as `amdsmi_get_gpu_metrics_info` gives it, in our names and units.

Every value is an int or the text "N/A". The library marks what a GPU does not have with the largest number of the
field's width, and the package turns that into "N/A" only where the widths agree: a table of an older version that was
copied into the wider fields lets 65535 or 4294967295 through. So a value has to be plausible to count.

Units, from `amdsmi.h` and the kernel's `kgd_pp_interface.h`: W, C, MHz; XGMI in KB, which is taken as 1024 bytes
(inferred: the library's own MB are); `pcie_bandwidth_inst` in Mb/s (inferred: amdsmi.h says GB/s here and Mb/s of the
same value in `amdsmi_get_pcie_info`, and newer kernels say Mbps). `pcie_bandwidth_acc` is left out: the sources do not
agree on its unit. Which power is there depends on the generation: MI300 has the current one, MI200 the average.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from labkit.core import gpus

POWERS = {"current": "current_socket_power", "average": "average_socket_power"}
_ABSENT = frozenset({2**16 - 1, 2**32 - 1, 2**64 - 1})
_MOST_W, _MOST_C, _MOST_MHZ = 10_000, 200, 10_000
_KB = 1024
_MBIT = 1_000_000 / 8
_TICKS_PER_MS = 100_000
"""Of `firmware_timestamp`, whose unit is 10 ns."""


class Accumulators(NamedTuple):
    """Busy percentages added up, and the firmware's clock in ms."""

    gfx: int | None
    memory: int | None
    firmware_ms: float | None


def gauges_and_counters(table: Mapping[str, Any]) -> dict[str, float | None]:
    """The series that one table tells by itself."""
    links = {gpus.LINK_READ: "xgmi_read_data_acc", gpus.LINK_WRITTEN: "xgmi_write_data_acc"}
    rate = number(table.get("pcie_bandwidth_inst"))
    return {
        gpus.HOTSPOT: number(table.get("temperature_hotspot"), _MOST_C, least=1),
        gpus.HBM_TEMPERATURE: _hbm_c(table),
        gpus.GFX_CLOCK: _mean(_several(table, "current_gfxclks", _MOST_MHZ))
        or number(table.get("current_gfxclk"), _MOST_MHZ),
        gpus.MEMORY_CLOCK: number(table.get("current_uclk"), _MOST_MHZ),
        gpus.PCIE_RATE: None if rate is None else rate * _MBIT,
        **{name: _bytes(_several(table, key)) for name, key in links.items()},
    }


def power_w(table: Mapping[str, Any], key: str) -> float | None:
    """`key`: one of the names that the library has for it."""
    return number(table.get(key), _MOST_W, least=1)


def energy_ticks(table: Mapping[str, Any]) -> float | None:
    """In units of the counter's resolution."""
    return number(table.get("energy_accumulator"))


def accumulators(table: Mapping[str, Any]) -> Accumulators:
    """A driver that does not fill the clock does not fill the accumulators either: 0 is no time."""
    ticks = number(table.get("firmware_timestamp"), least=1)
    return Accumulators(
        _count(table.get("gfx_activity_acc")),
        _count(table.get("mem_activity_acc")),
        None if ticks is None else ticks / _TICKS_PER_MS,
    )


def version(table: Mapping[str, Any]) -> str | None:
    """Such as `1.6`."""
    parts = [table.get(f"common_header.{part}_revision") for part in ("format", "content")]
    return ".".join(str(part) for part in parts) if all(isinstance(part, int) for part in parts) else None


def number(value: Any, most: float | None = None, least: float = 0) -> float | None:
    """A plausible number, or None."""
    if not isinstance(value, int) or isinstance(value, bool) or value in _ABSENT or value < least:
        return None
    return None if most is not None and value >= most else float(value)


def _count(value: Any) -> int | None:
    known = number(value)
    return None if known is None else int(known)


def _several(table: Mapping[str, Any], key: str, most: float | None = None) -> list[float]:
    """What is told of a list; empty where nothing is."""
    listed = table.get(key)
    known = [number(each, most) for each in listed] if isinstance(listed, list) else []
    return [each for each in known if each is not None]


def _hbm_c(table: Mapping[str, Any]) -> float | None:
    """The hottest stack; MI300 tells the hottest alone."""
    stacks = [each for each in _several(table, "temperature_hbm", _MOST_C) if each > 0]
    return max(stacks) if stacks else number(table.get("temperature_mem"), _MOST_C, least=1)


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _bytes(kilobytes: list[float]) -> float | None:
    return sum(kilobytes) * _KB if kilobytes else None
