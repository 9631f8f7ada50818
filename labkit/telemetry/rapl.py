"""Energy of CPU packages and memory, from the kernel's powercap files (Intel and AMD RAPL).

Domains overlap: `core` and `uncore` are parts of their package, and `psys` is the whole board. Packages and memory
(`dram`, which is outside the package's count) are read, so that nothing counts twice. Since kernel 5.10 the counters
are readable by root alone, unless the machine's owner opened them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from labkit.telemetry.devices import EnergySource, Unreadable

NAME = "rapl"
POWERCAP = Path("/sys/class/powercap")
_MICRO = 1e-6


@dataclass(frozen=True)
class Domain:
    """One folder such as `intel-rapl:0`. `wraps_at_j`: from its max_energy_range_uj."""

    name: str
    folder: Path
    wraps_at_j: float | None

    def energy_j(self) -> float | None:
        try:
            return int((self.folder / "energy_uj").read_text()) * _MICRO
        except (OSError, ValueError):
            return None

    def power_w(self) -> float | None:
        """RAPL counts energy alone."""
        return None


def rapl_source(powercap: Path = POWERCAP) -> EnergySource:
    """Packages and memory of this machine. Raises Unreadable with the reason."""
    folders = sorted(powercap.glob("intel-rapl:*"))
    if not folders:
        raise Unreadable(f"no intel-rapl in {powercap}: a virtual machine, or the kernel module is not loaded")
    domains = [domain for folder in folders if (domain := _domain(folder))]
    closed = [domain.folder / "energy_uj" for domain in domains if domain.energy_j() is None]
    if domains and len(closed) == len(domains):
        raise Unreadable(f"{closed[0]} cannot be read; as root: chmod -R a+r {powercap}/intel-rapl*/")
    return EnergySource(NAME, domains)


def _domain(folder: Path) -> Domain | None:
    name, wraps_at = _text(folder / "name"), _text(folder / "max_energy_range_uj")
    if name is None or not name.startswith(("package", "dram")):
        return None
    number = folder.name.partition(":")[2].partition(":")[0]
    title = name if name.startswith("package") else f"{name}-{number}"
    return Domain(title, folder, int(wraps_at) * _MICRO if wraps_at and wraps_at.isdecimal() else None)


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
