"""The records of a plan. Ports are markers (`{port:NAME}`) until they are filled in, so that a plan can move."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from labkit.core.records import Record

_MARKER = re.compile(r"\{port:([\w-]+)\}")


@dataclass(frozen=True, kw_only=True)
class ProcessSpec(Record):
    """One process. `role`: engine, prefill, decode or router; `engine-0`, `engine-1` when there are replicas.

    `env`: what the plan sets, not what the process inherits. `metrics`: whether it answers /metrics as an engine.
    `memory_bytes`: host memory that it needs. `port` is 0 while ports are markers.
    """

    role: str
    argv: tuple[str, ...]
    env: dict[str, str]
    port: int = 0
    metrics: bool = True
    memory_bytes: int = 0

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return super().from_dict({**data, "argv": tuple(data["argv"])})

    def filled(self, ports: Mapping[str, int]) -> Self:
        """The same process with its port markers replaced by numbers."""

        def fill(text: str) -> str:
            return _MARKER.sub(lambda match: str(ports[match[1]]), text)

        env = {name: fill(value) for name, value in self.env.items()}
        return dataclasses.replace(self, argv=tuple(fill(arg) for arg in self.argv), env=env, port=ports[self.role])

    @property
    def port_names(self) -> list[str]:
        """Names of the ports that this process mentions, its own first."""
        text = " ".join([*self.argv, *self.env.values()])
        return list(dict.fromkeys([self.role, *_MARKER.findall(text)]))


@dataclass(frozen=True, kw_only=True)
class Plan(Record):
    """The processes of one arm and what the fleet must know to start them.

    `method`: drafter, null in arms without speculation. `salted`: the server caches prefixes although the arm does
    not; a fresh cache_salt on every request must switch it off, and then `base` and `prefix` share one engine.
    `layout`: the processes with port markers. `fixed`: ports that must not be replaced by free ones. `weights`: a name
    of `labkit models` that must have been fetched before the start. `vendor`: whose GPUs it is for, or `cpu`.
    """

    profile: str
    arm: str
    model: str
    method: str | None
    salted: bool
    layout: tuple[ProcessSpec, ...]
    ports: dict[str, int] = field(default_factory=dict)
    fixed: tuple[str, ...] = ()
    router_first: bool = False
    weights: str | None = None
    vendor: str = "cpu"
    max_startup_s: float
    expected_start_s: float

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        processes = tuple(ProcessSpec.from_dict(process) for process in data["layout"])
        return super().from_dict({**data, "layout": processes, "fixed": tuple(data["fixed"])})

    @property
    def processes(self) -> tuple[ProcessSpec, ...]:
        """The processes with their ports filled in, in the order of the request's way: engines, then the router."""
        return tuple(process.filled(self.ports) for process in self.layout)

    @property
    def port_names(self) -> tuple[str, ...]:
        """Every port that the plan needs, by name."""
        return tuple(dict.fromkeys(name for process in self.layout for name in process.port_names))

    @property
    def entry(self) -> ProcessSpec:
        """The process that takes the requests: the router where there is one."""
        return self.processes[-1]

    @property
    def key(self) -> str:
        """Hash of what matters: command lines and environment without port numbers. Same key, same engine."""
        matter = [[process.role, process.argv, sorted(process.env.items())] for process in self.layout]
        return hashlib.sha256(json.dumps(matter).encode()).hexdigest()[:12]

    def with_ports(self, ports: Mapping[str, int]) -> Plan:
        """The same plan on other ports; `ports` names every one of `port_names`."""
        return dataclasses.replace(self, ports=dict(ports))
