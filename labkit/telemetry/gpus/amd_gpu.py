"""One AMD GPU, read with two calls a look: the table of metrics, and the memory in use, which the table has not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

from labkit.core import gpus
from labkit.core.energy import ENERGY, POWER
from labkit.telemetry.devices import Unreadable
from labkit.telemetry.gpus.amd_metrics import (
    POWERS,
    Accumulators,
    accumulators,
    energy_ticks,
    gauges_and_counters,
    number,
    power_w,
    version,
)
from labkit.telemetry.gpus.amd_words import NO_ACCUMULATOR, NOT_TOLD, NOTHING_TOLD, table_words, words
from labkit.telemetry.gpus.busy import BusyShare
from labkit.telemetry.gpus.gpu import GpuFacts

_MICRO = 1e-6
_RESOLUTION_UJ = 15.259
"""Of the energy counter, by amdsmi.h, where the library does not tell it."""
_SHARES = (gpus.GFX_BUSY, gpus.MEMORY_BUSY)
_VRAM = (gpus.VRAM_USED, gpus.VRAM_TOTAL)
_OFFERED = (
    *_SHARES, gpus.VRAM_USED, gpus.VRAM_TOTAL, gpus.HOTSPOT, gpus.HBM_TEMPERATURE, gpus.GFX_CLOCK, gpus.MEMORY_CLOCK,
    gpus.LINK_READ, gpus.LINK_WRITTEN, gpus.PCIE_RATE,
)  # fmt: skip


class AmdGpu:
    """`handle`: of the whole GPU, or of the first of its partitions. `facts.name`: its PCI address."""

    wraps_at_j = None

    def __init__(self, amdsmi: ModuleType, handle: Any, facts: GpuFacts) -> None:
        self._amdsmi, self._handle, self.facts = amdsmi, handle, facts
        self._errors: dict[str, Exception] = {}
        self._known: dict[str, float | None] = {}
        self._busy = {what: BusyShare() for what in _SHARES}
        self._power_key: str | None = None
        self._tabled = False
        self._unread: dict[str, str] | None = None
        self._total = self._vram("amdsmi_get_gpu_memory_total")
        count = self._try("energy", lambda: amdsmi.amdsmi_get_energy_count(handle)) or {}
        self._resolution_uj = float(count.get("counter_resolution") or _RESOLUTION_UJ)

    @property
    def name(self) -> str:
        return self.facts.name

    @property
    def unread(self) -> Mapping[str, str]:
        return self._unread or {}

    def values(self) -> Mapping[str, float | None]:
        return {what: self._known.get(what) for what in _OFFERED}

    def energy_j(self) -> float | None:
        return self._known.get(ENERGY)

    def power_w(self) -> float | None:
        return self._known.get(POWER)

    def look(self) -> None:
        self._errors.clear()
        table = self._try("table", lambda: self._amdsmi.amdsmi_get_gpu_metrics_info(self._handle)) or {}
        self._known = {
            **gauges_and_counters(table),
            **self._shares(accumulators(table)),
            gpus.VRAM_USED: self._vram("amdsmi_get_gpu_memory_usage"),
            gpus.VRAM_TOTAL: self._total,
            ENERGY: self._energy_j(table),
            POWER: self._power_w(table),
        }
        of_table = any(value is not None for what, value in self._known.items() if what not in _VRAM)
        of_table = of_table or accumulators(table).gfx is not None
        lost, self._tabled = self._tabled and not table, self._tabled or bool(table)
        if self._unread is None:
            self._first(table, nothing=not of_table)
        if lost or (not of_table and self._known[gpus.VRAM_USED] is None):
            self._known = {}
            raise Unreadable(f"{self.name}: {NOTHING_TOLD if table else words(next(iter(self._errors.values())))}")

    def _shares(self, now: Accumulators) -> dict[str, float | None]:
        counts = dict(zip(_SHARES, (now.gfx, now.memory), strict=True))
        return {what: self._busy[what].share(count, now.firmware_ms) for what, count in counts.items()}

    def _first(self, table: Mapping[str, Any], *, nothing: bool) -> None:
        """What is not told now is named once, with the reason. A share needs two looks, so its counter is asked for."""
        now = accumulators(table)
        no_share = [what for what, n in zip(_SHARES, now[:2], strict=True) if n is None or now.firmware_ms is None]
        silent = [what for what in _OFFERED if what not in _SHARES and self._known[what] is None]
        self._unread = {what: self._why(what, nothing=nothing) for what in (*no_share, *silent)}
        power = next((kind for kind, key in POWERS.items() if key == self._power_key), None)
        self.facts = replace(self.facts, metrics=version(table), power=power)

    def _why(self, what: str, *, nothing: bool) -> str:
        if what in _VRAM:
            return words(self._errors["memory"]) if "memory" in self._errors else NOT_TOLD
        if "table" in self._errors:
            return table_words(self._errors["table"])
        if nothing:
            return NOTHING_TOLD
        return NO_ACCUMULATOR if what in _SHARES else NOT_TOLD

    def _energy_j(self, table: Mapping[str, Any]) -> float | None:
        ticks = energy_ticks(table)
        if ticks is None and not table:
            count = self._try("energy", lambda: self._amdsmi.amdsmi_get_energy_count(self._handle)) or {}
            ticks = number(count.get("energy_accumulator"))
        return None if ticks is None else ticks * self._resolution_uj * _MICRO

    def _power_w(self, table: Mapping[str, Any]) -> float | None:
        """The kind of power that was told first is the one that is read: one series does not mix two meanings."""
        if self._power_key is None:
            self._power_key = next((key for key in POWERS.values() if power_w(table, key) is not None), None)
        if self._power_key in POWERS.values() and table:
            return power_w(table, str(self._power_key))
        info = self._try("power", lambda: self._amdsmi.amdsmi_get_power_info(self._handle)) or {}
        keys = (self._power_key,) if self._power_key else (*POWERS.values(), "socket_power")
        found = [(key, watts) for key in keys if (watts := power_w(info, key)) is not None]
        if found:
            self._power_key = found[0][0]
        return found[0][1] if found else None

    def _vram(self, call: str) -> float | None:
        """Bytes; the library's other call, `amdsmi_get_gpu_vram_usage`, has MB."""
        kind = self._amdsmi.AmdSmiMemoryType.VRAM
        return number(self._try("memory", lambda: getattr(self._amdsmi, call)(self._handle, kind)))

    def _try(self, what: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except self._amdsmi.AmdSmiException as error:
            self._errors[what] = error
            return None
