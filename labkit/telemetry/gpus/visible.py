"""Which GPUs an engine process can use, by the variables of its environment.

Two layers on ROCm: ROCR_VISIBLE_DEVICES hides GPUs from the runtime, then HIP_VISIBLE_DEVICES (CUDA_VISIBLE_DEVICES
where that is not set) picks among what is left, by new numbers. On CUDA there is CUDA_VISIBLE_DEVICES alone. An entry
is a number or the beginning of a uuid (`GPU-...`); the first that names nothing hides itself and all after it, and a
variable that is set and empty hides all. That ROCR counts in the order of HIP is inferred.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from labkit.telemetry.gpus.gpu import GpuFacts

_LAYERS = {
    "amdsmi": (("ROCR_VISIBLE_DEVICES",), ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")),
    "nvml": (("CUDA_VISIBLE_DEVICES",),),
}
_Device = tuple[str, str]
"""A GPU's name, and the uuid of this one of its devices or an empty text."""


def visible(library: str, gpus: Sequence[GpuFacts], environments: Iterable[Mapping[str, str]]) -> frozenset[str]:
    """Names of the GPUs that at least one of the processes can use. `library`: `amdsmi` or `nvml`."""
    return frozenset(name for environment in environments for name in _of(library, gpus, environment))


def _of(library: str, gpus: Sequence[GpuFacts], environment: Mapping[str, str]) -> set[str]:
    left = _devices(gpus)
    for variables in _LAYERS[library]:
        said = next((environment[name] for name in variables if name in environment), None)
        left = left if said is None else _picked(left, said)
    return {name for name, _ in left}


def _devices(gpus: Sequence[GpuFacts]) -> list[_Device]:
    """All devices in the order in which a process would number them."""
    numbered = [
        (index, gpu.name, gpu.uuids[n] if n < len(gpu.uuids) else "")
        for gpu in gpus
        for n, index in enumerate(gpu.indices)
    ]
    return [(name, uuid) for _, name, uuid in sorted(numbered)]


def _picked(devices: Sequence[_Device], said: str) -> list[_Device]:
    picked: list[_Device] = []
    for entry in (part.strip() for part in said.split(",")):
        found = _named(devices, entry)
        if found is None:
            break
        picked.append(found)
    return picked


def _named(devices: Sequence[_Device], entry: str) -> _Device | None:
    if entry.isdecimal():
        return devices[int(entry)] if int(entry) < len(devices) else None
    return next((device for device in devices if entry and device[1].startswith(entry)), None)
