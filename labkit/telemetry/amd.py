"""AMD GPUs, through amdsmi (the package that comes with ROCm): energy, power and what else they tell.

Without the driver's library `import amdsmi` prints two lines and raises KeyError, not ImportError. The handles are all
GPUs of the machine, whatever HIP_VISIBLE_DEVICES says, which suits the lab: all of them are paid for. They are named by
their PCI address.
"""

from __future__ import annotations

import contextlib
import io
from types import ModuleType

from labkit.telemetry.devices import Unreadable
from labkit.telemetry.gpus.amd_facts import found
from labkit.telemetry.gpus.amd_gpu import AmdGpu
from labkit.telemetry.gpus.amd_words import import_words, words
from labkit.telemetry.gpus.source import GpuSource

NAME = "amdsmi"


def amd_source() -> GpuSource:
    """All AMD GPUs of the machine. Raises Unreadable with the reason."""
    amdsmi = _imported()
    try:
        amdsmi.amdsmi_init(amdsmi.AmdSmiInitFlags.INIT_AMD_GPUS)
    except amdsmi.AmdSmiException as error:
        raise Unreadable(f"no AMD driver: {words(error)}") from error
    try:
        gpus = [AmdGpu(amdsmi, handle, facts) for handle, facts in found(amdsmi)]
        return GpuSource(NAME, gpus, amdsmi.amdsmi_shut_down)
    except (amdsmi.AmdSmiException, Unreadable) as error:
        amdsmi.amdsmi_shut_down()
        raise Unreadable(words(error)) from error


def _imported() -> ModuleType:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            import amdsmi
    except (ImportError, OSError, KeyError, AttributeError) as error:
        raise Unreadable(import_words(error)) from error
    return amdsmi  # type: ignore[no-any-return]
