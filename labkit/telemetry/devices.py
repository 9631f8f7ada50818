"""A source of joules and watts: devices of one library, read together.

Each library (amdsmi, NVML, RAPL) is another way to the same two numbers, so each gives devices, read here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from labkit.core.energy import ENERGY, POWER, series
from labkit.telemetry.counter import Rising
from labkit.telemetry.source import Reading, Source


class Device(Protocol):
    """One thing that draws power. None: not offered, or not now.

    `wraps_at_j`: the value after which the energy counter starts again from 0; None: it never does.
    """

    @property
    def name(self) -> str: ...

    @property
    def wraps_at_j(self) -> float | None: ...

    def energy_j(self) -> float | None: ...

    def power_w(self) -> float | None: ...


class Unreadable(Exception):
    """Why a library gives neither energy nor power here."""


@dataclass
class _Read:
    """A device with its counter, and which of the two numbers it offers."""

    device: Device
    counter: Rising
    energy: bool
    power: bool

    def readings(self) -> list[Reading]:
        name, found = self.device.name, []
        if self.energy:
            found.append(Reading(series(name, ENERGY), "J", self.counter.total(self.device.energy_j())))
        if self.power:
            found.append(Reading(series(name, POWER), "W", self.device.power_w()))
        return found


class EnergySource:
    """All devices of one library. Raises Unreadable when none of them gives a number.

    One that gives none while others do is read all the same, as nulls: without it the rest would pass for all.
    """

    def __init__(self, name: str, devices: Sequence[Device], close: Callable[[], None] = lambda: None) -> None:
        self.name = name
        self._close = close
        offered = [(device, device.energy_j() is not None, device.power_w() is not None) for device in devices]
        self._reads = [
            _Read(device, Rising(device.wraps_at_j), energy or not power, power) for device, energy, power in offered
        ]
        self.unread = tuple(device.name for device, energy, power in offered if not (energy or power))
        """Names of the devices that told neither when they were first asked."""
        if len(self.unread) == len(offered) and not self._tells_more():
            raise Unreadable(f"{len(devices)} devices, none of which tells its energy or power")

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the devices, of `unread` ones too."""
        return tuple(read.device.name for read in self._reads)

    @property
    def parts(self) -> tuple[Source, ...]:
        """What is sampled on its own, so that the fault of one is not the fault of all."""
        return (self,)

    def close(self) -> None:
        """Give the library back."""
        self._close()

    def _tells_more(self) -> bool:
        """Whether it is worth reading without energy or power."""
        return False

    async def read(self) -> Sequence[Reading]:
        # A driver call takes milliseconds, in which the event loop would stamp no chunk.
        return await asyncio.to_thread(self._read)

    def _read(self) -> list[Reading]:
        return [reading for read in self._reads for reading in read.readings()]
