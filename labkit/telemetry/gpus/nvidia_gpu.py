"""One NVIDIA GPU, through NVML.

There is no accumulator of utilisation: `nvmlDeviceGetUtilizationRates` is a share of the driver's last sample period,
between a sixth of a second and a second, so it stands as a gauge. Memory is in bytes; used counts what the driver
reserves too. NVLink counts KiB of data over all links. PCIe is a rate over 20 ms, one call in each direction, in KB/s,
taken as 1000 bytes. NVML tells no hotspot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from labkit.core import gpus
from labkit.core.energy import ENERGY, POWER
from labkit.telemetry.devices import Unreadable
from labkit.telemetry.gpus.gpu import GpuFacts

_MILLI = 1e-3
_KIB, _KB = 1024, 1000
_ALL_LINKS = 2**32 - 1
_OFFERED = (
    gpus.GFX_BUSY_GAUGE, gpus.MEMORY_BUSY_GAUGE, gpus.VRAM_USED, gpus.VRAM_TOTAL, gpus.GPU_TEMPERATURE,
    gpus.HBM_TEMPERATURE, gpus.GFX_CLOCK, gpus.MEMORY_CLOCK, gpus.LINK_READ, gpus.LINK_WRITTEN, gpus.PCIE_RATE,
)  # fmt: skip


class NvidiaGpu:
    """`facts.name`: `gpu0`, by its number in NVML, which counts in the order of PCI addresses."""

    wraps_at_j = None

    def __init__(self, nvml: ModuleType, handle: Any, facts: GpuFacts) -> None:
        self._nvml, self._handle, self.facts = nvml, handle, facts
        self._known: dict[str, float | None] = {}
        self._errors: dict[str, str] = {}
        self._unread: dict[str, str] | None = None

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
        self._known = {what: value for group in self._groups() for what, value in group.items()}
        if self._unread is None:
            self._unread = {what: self._errors[what] for what in _OFFERED if what in self._errors}
        if all(value is None for value in self._known.values()):
            raise Unreadable(f"{self.name}: {next(iter(self._errors.values()))}")

    def _groups(self) -> list[dict[str, float | None]]:
        """Values by the call that tells them."""
        nvml = self._nvml
        clocks = {gpus.GFX_CLOCK: nvml.NVML_CLOCK_SM, gpus.MEMORY_CLOCK: nvml.NVML_CLOCK_MEM}
        return [
            self._ask((ENERGY,), nvml.nvmlDeviceGetTotalEnergyConsumption, lambda mj: [mj * _MILLI]),
            self._ask((POWER,), nvml.nvmlDeviceGetPowerUsage, lambda mw: [mw * _MILLI]),
            self._ask(
                (gpus.GFX_BUSY_GAUGE, gpus.MEMORY_BUSY_GAUGE),
                nvml.nvmlDeviceGetUtilizationRates,
                lambda rates: [rates.gpu / 100, rates.memory / 100],
            ),
            self._ask(
                (gpus.VRAM_USED, gpus.VRAM_TOTAL),
                nvml.nvmlDeviceGetMemoryInfo,
                lambda memory: [float(memory.used), float(memory.total)],
            ),
            self._ask(
                (gpus.GPU_TEMPERATURE,),
                lambda handle: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
                lambda celsius: [float(celsius)],
            ),
            *(self._clock(what, kind) for what, kind in clocks.items()),
            self._ask((gpus.PCIE_RATE,), self._pcie_kb_per_s, lambda kb: [kb * float(_KB)]),
            self._fields(),
        ]

    def _clock(self, what: str, kind: int) -> dict[str, float | None]:
        return self._ask((what,), lambda gpu: self._nvml.nvmlDeviceGetClockInfo(gpu, kind), lambda mhz: [float(mhz)])

    def _pcie_kb_per_s(self, handle: Any) -> int:
        nvml = self._nvml
        both = (nvml.NVML_PCIE_UTIL_TX_BYTES, nvml.NVML_PCIE_UTIL_RX_BYTES)
        return sum(nvml.nvmlDeviceGetPcieThroughput(handle, way) for way in both)

    def _fields(self) -> dict[str, float | None]:
        """One call for what NVML has as numbered fields, each of which can be refused on its own."""
        nvml = self._nvml
        wanted = {
            gpus.HBM_TEMPERATURE: (nvml.NVML_FI_DEV_MEMORY_TEMP, 0),
            gpus.LINK_READ: (nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, _ALL_LINKS),
            gpus.LINK_WRITTEN: (nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, _ALL_LINKS),
        }

        def told(fields: Any) -> list[float | None]:
            return [self._field(what, field) for what, field in zip(wanted, fields, strict=True)]

        return self._ask(
            tuple(wanted), lambda handle: nvml.nvmlDeviceGetFieldValues(handle, list(wanted.values())), told
        )

    def _field(self, what: str, field: Any) -> float | None:
        if field.nvmlReturn != self._nvml.NVML_SUCCESS:
            self._errors[what] = str(self._nvml.NVMLError(field.nvmlReturn))
            return None
        if what == gpus.HBM_TEMPERATURE:
            return float(field.value.uiVal)
        return float(field.value.ullVal) * _KIB

    def _ask(
        self, names: tuple[str, ...], call: Callable[[Any], Any], told: Callable[[Any], Any]
    ) -> dict[str, float | None]:
        try:
            return dict(zip(names, told(call(self._handle)), strict=True))
        except self._nvml.NVMLError as error:
            self._errors |= dict.fromkeys(names, str(error))
            return dict.fromkeys(names)
