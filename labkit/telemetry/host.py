"""The machine and the processes of the run, through psutil."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import psutil

from labkit.telemetry.cpu import MachineShare, Share, tree
from labkit.telemetry.source import Reading


class HostSource:
    """CPU and memory of the machine, and of each process tree in `processes` (a role and its pid).

    A process that is gone reads as null. CPU readings are shares of the time since the last read: null at the first.
    """

    name = "host"

    def __init__(self, processes: Mapping[str, int] | None = None) -> None:
        self._processes = dict(processes or {})
        self._machine = MachineShare()
        self._shares = {role: Share() for role in self._processes}

    async def read(self) -> Sequence[Reading]:
        # Walking /proc takes milliseconds, in which the event loop would stamp no chunk.
        return await asyncio.to_thread(self._read)

    def _read(self) -> list[Reading]:
        memory = psutil.virtual_memory()
        machine = [
            Reading("cpu_percent", "%", self._machine.percent()),
            Reading("memory_available", "bytes", float(memory.available)),
            Reading("memory_used", "bytes", float(memory.used)),
        ]
        return [*machine, *(reading for role, pid in self._processes.items() for reading in self._process(role, pid))]

    def _process(self, role: str, pid: int) -> list[Reading]:
        now = tree(pid)
        rss = None if now.rss is None else float(now.rss)
        cores = self._shares[role].cores(now.cpu_s)
        return [Reading(f"{role}/cpu", "cores", cores), Reading(f"{role}/rss", "bytes", rss)]
