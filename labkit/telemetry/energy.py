"""Joules and watts of whatever this machine lets be read: AMD GPUs, NVIDIA GPUs, CPU packages.

What cannot be read is left out with the reason, and never stops a run. The libraries are imported when they are asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from labkit.telemetry import amd, nvidia, rapl
from labkit.telemetry.devices import EnergySource, Unreadable


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


def energy_sources(powercap: Path | None = None) -> list[EnergySource]:
    """The sources that can be read on this machine; empty where nothing can."""
    return find_energy(powercap).sources
