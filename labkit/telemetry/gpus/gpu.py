"""What the two libraries have in common: a GPU that is looked at, and what is known of it once and for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from labkit.telemetry.devices import Device


@dataclass(frozen=True, kw_only=True)
class GpuFacts:
    """One GPU of the machine. None: not told.

    `indices`: what HIP or CUDA calls it in a process from which nothing is hidden; several where it is partitioned.
    `uuids`: the same, by the names that a variable of visible devices may have instead. `power`: whether its power is
    the `current` one or an `average`. `metrics`: version of the driver's table.
    """

    name: str
    bdf: str | None = None
    market_name: str | None = None
    device_id: str | None = None
    architecture: str | None = None
    compute_units: int | None = None
    compute_partition: str | None = None
    memory_partition: str | None = None
    driver: str | None = None
    library: str | None = None
    metrics: str | None = None
    power: str | None = None
    indices: tuple[int, ...] = ()
    uuids: tuple[str, ...] = ()

    def alike(self) -> dict[str, Any]:
        """What two machines with the same GPUs and the same driver have in common: nothing that names this one."""
        own = ("name", "bdf", "indices", "uuids")
        return {key: value for key, value in vars(self).items() if key not in own}

    def told(self) -> dict[str, Any]:
        """For an event of a run: serial numbers and uuids stay here."""
        return {key: value for key, value in vars(self).items() if key != "uuids"}


class Gpu(Device, Protocol):
    """A device whose energy and power are of its last look."""

    @property
    def facts(self) -> GpuFacts: ...

    @property
    def unread(self) -> Mapping[str, str]:
        """Series that were not told at the first look, and why not. They stay in the readings, as nulls."""
        ...

    def look(self) -> None:
        """Ask the driver. Raises Unreadable when it answers nothing at all."""
        ...

    def values(self) -> Mapping[str, float | None]:
        """The series of `labkit.core.gpus` as of the last look, in their units; counters as the hardware has them."""
        ...
