"""What this machine lets be read: joules and watts of GPUs and CPU packages, and what else GPUs tell.

What cannot be read is left out with the reason, and never stops a run. The libraries are imported when they are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.telemetry import amd, nvidia, rapl
from labkit.telemetry.devices import EnergySource, Unreadable
from labkit.telemetry.gpus.source import GpuSource


@dataclass(frozen=True)
class Found:
    """Sources that can be read, and for each library that cannot, or not wholly: why."""

    sources: list[EnergySource] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)


def find_energy(powercap: Path | None = None) -> Found:
    """Look for all that can be read. `powercap`: the folder of RAPL; default: the machine's own."""
    makers: dict[str, Callable[[], EnergySource]] = {
        amd.NAME: amd.amd_source,
        nvidia.NAME: nvidia.nvidia_source,
        rapl.NAME: lambda: rapl.rapl_source(powercap or rapl.POWERCAP),
    }
    found = Found()
    for name, make in makers.items():
        try:
            source = make()
        except Unreadable as error:
            found.unread[name] = str(error)
            continue
        found.sources.append(source)
        if source.unread:
            found.unread[name] = f"{', '.join(source.unread)}: told neither energy nor power at the start"
    return found


def gpu_sources(sources: Iterable[EnergySource]) -> list[GpuSource]:
    """Those that are GPUs, and tell more than energy and power."""
    return [source for source in sources if isinstance(source, GpuSource)]


def gpus_alike() -> list[dict[str, Any]]:
    """The GPUs of this machine for a fingerprint: an entry for each kind, with their number. Empty without any."""
    kinds: list[dict[str, Any]] = []
    for make in (amd.amd_source, nvidia.nvidia_source):
        try:
            source = make()
        except Unreadable:
            continue
        for gpu in source.gpus:
            kind = next((each for each in kinds if gpu.facts.alike().items() <= each.items()), None)
            if kind is None:
                kinds.append({**gpu.facts.alike(), "count": 1})
            else:
                kind["count"] += 1
        source.close()
    return kinds


def energy_sources(powercap: Path | None = None) -> list[EnergySource]:
    """The sources that can be read on this machine; empty where nothing can."""
    return find_energy(powercap).sources
