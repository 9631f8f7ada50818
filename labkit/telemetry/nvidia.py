"""NVIDIA GPUs, through NVML (package nvidia-ml-py, which loads the driver's own library): energy, power and the rest.

`nvmlDeviceGetTotalEnergyConsumption`: mJ since the driver was loaded, from Volta on. `nvmlDeviceGetPowerUsage`: mW, on
many GPUs an average of the last second.
"""

from __future__ import annotations

from labkit.telemetry.devices import Unreadable
from labkit.telemetry.gpus.nvidia_facts import facts
from labkit.telemetry.gpus.nvidia_gpu import NvidiaGpu
from labkit.telemetry.gpus.source import GpuSource

NAME = "nvml"


def nvidia_source() -> GpuSource:
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
        handles = [pynvml.nvmlDeviceGetHandleByIndex(n) for n in range(pynvml.nvmlDeviceGetCount())]
        gpus = [NvidiaGpu(pynvml, handle, facts(pynvml, handle, n)) for n, handle in enumerate(handles)]
        return GpuSource(NAME, gpus, pynvml.nvmlShutdown)
    except (pynvml.NVMLError, Unreadable) as error:
        pynvml.nvmlShutdown()
        raise Unreadable(str(error)) from error
