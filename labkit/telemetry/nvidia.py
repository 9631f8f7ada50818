"""Energy and power of NVIDIA GPUs, through NVML (package nvidia-ml-py, which loads the driver's own library).

`nvmlDeviceGetTotalEnergyConsumption`: mJ since the driver was loaded, from Volta on. `nvmlDeviceGetPowerUsage`: mW, on
many GPUs an average of the last second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from labkit.telemetry.devices import EnergySource, Unreadable

NAME = "nvml"
_MILLI = 1e-3


@dataclass(frozen=True)
class _Gpu:
    name: str
    handle: Any
    nvml: ModuleType
    wraps_at_j: float | None = None

    def energy_j(self) -> float | None:
        return self._ask(self.nvml.nvmlDeviceGetTotalEnergyConsumption)

    def power_w(self) -> float | None:
        return self._ask(self.nvml.nvmlDeviceGetPowerUsage)

    def _ask(self, call: Callable[[Any], int]) -> float | None:
        try:
            return call(self.handle) * _MILLI
        except self.nvml.NVMLError:
            return None


def nvidia_source() -> EnergySource:
    """All NVIDIA GPUs of the machine, whatever CUDA_VISIBLE_DEVICES says. Raises Unreadable with the reason."""
    try:
        import pynvml  # the module of nvidia-ml-py
    except ImportError as error:
        raise Unreadable(f"the package nvidia-ml-py is not installed: {error}") from error
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise Unreadable(f"no NVIDIA driver: {error}") from error
    try:
        gpus = [
            _Gpu(f"gpu{n}", pynvml.nvmlDeviceGetHandleByIndex(n), pynvml) for n in range(pynvml.nvmlDeviceGetCount())
        ]
        return EnergySource(NAME, gpus, pynvml.nvmlShutdown)
    except (pynvml.NVMLError, Unreadable) as error:
        pynvml.nvmlShutdown()
        raise Unreadable(str(error)) from error
