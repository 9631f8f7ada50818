"""Energy and power of AMD GPUs, through amdsmi (the package that comes with ROCm).

Four traps. Without the driver's library `import amdsmi` prints two lines and raises KeyError, not ImportError. A value
that a GPU does not have is the text "N/A"; on MI300 that is the average socket power, on MI200 the current one. The
energy counter has a resolution of its own. And the handles are all GPUs of the machine, whatever HIP_VISIBLE_DEVICES
says, which suits the lab: all of them are paid for. They are named by their PCI address.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from labkit.telemetry.devices import EnergySource, Unreadable

NAME = "amdsmi"
_MICRO = 1e-6
_POWERS = ("current_socket_power", "average_socket_power", "socket_power")
_MOST_W = 10_000
"""More than any GPU draws: unsigned -1 in one of several widths, for "not known"."""
_MOST_COUNT = 2**64 - 1


@dataclass(frozen=True)
class _Gpu:
    name: str
    handle: Any
    amdsmi: ModuleType
    wraps_at_j: float | None = None

    def energy_j(self) -> float | None:
        try:
            count = self.amdsmi.amdsmi_get_energy_count(self.handle)
        except self.amdsmi.AmdSmiException:
            return None
        ticks = count["energy_accumulator"]
        return ticks * count["counter_resolution"] * _MICRO if isinstance(ticks, int) and ticks < _MOST_COUNT else None

    def power_w(self) -> float | None:
        try:
            info = self.amdsmi.amdsmi_get_power_info(self.handle)
        except self.amdsmi.AmdSmiException:
            return None
        known = [info[key] for key in _POWERS if isinstance(info.get(key), int) and 0 < info[key] < _MOST_W]
        return float(known[0]) if known else None


def amd_source() -> EnergySource:
    """All AMD GPUs of the machine. Raises Unreadable with the reason."""
    amdsmi = _imported()
    try:
        amdsmi.amdsmi_init(amdsmi.AmdSmiInitFlags.INIT_AMD_GPUS)
    except amdsmi.AmdSmiException as error:
        raise Unreadable(f"no AMD driver: {_said(error)}") from error
    try:
        handles = amdsmi.amdsmi_get_processor_handles()
        gpus = [_Gpu(amdsmi.amdsmi_get_gpu_device_bdf(handle), handle, amdsmi) for handle in handles]
        return EnergySource(NAME, gpus, amdsmi.amdsmi_shut_down)
    except (amdsmi.AmdSmiException, Unreadable) as error:
        amdsmi.amdsmi_shut_down()
        raise Unreadable(_said(error)) from error


def _imported() -> ModuleType:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            import amdsmi
    except (ImportError, OSError, KeyError, AttributeError) as error:
        raise Unreadable(f"its library does not load: {_said(error)}") from error
    return amdsmi  # type: ignore[no-any-return]


def _said(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines) or type(error).__name__
