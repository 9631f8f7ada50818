"""Everything that the checks judge, as plain records: a test plants what it wants, `reading.facts` reads the machine.

Nothing secret has a field here: of a token only whether there is one, of a process only its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from labkit.doctor.hub import HubModel
from labkit.doctor.model_size import ModelSize
from labkit.doctor.node.records import Node
from labkit.engines.installed import Installation
from labkit.engines.profiles import Profile


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package that the profile or the lab needs. `wanted`: as declared (`==0.32.0`); `installed`: None if absent."""

    name: str
    wanted: str
    installed: str | None


@dataclass(frozen=True, kw_only=True)
class Disk:
    """Where one kind of thing is written. `needs`, `free`: bytes; `free` is None when it cannot be read."""

    what: str
    variable: str
    path: str
    needs: int
    free: int | None


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port that the profile fixes. `holder`: who listens on it, None when it is free; `ours`: an engine of ours."""

    name: str
    number: int
    holder: str | None = None
    ours: bool = False


@dataclass(frozen=True, kw_only=True)
class Busy:
    """A process that kept cores busy while it was looked at; `engine`: the id of the engine that it belongs to."""

    name: str
    pid: int
    cores: float
    engine: str = ""


@dataclass(frozen=True, kw_only=True)
class Load:
    """What the machine did for `window_s` seconds. `cores`: kept busy by others than this process; None: not known."""

    window_s: float
    cores: float | None
    busiest: tuple[Busy, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ClockFacts:
    """The monotonic clock. `resolution_s`: as the system states it; `step_s`: the smallest step that was seen.

    `source`: what the kernel counts by (`tsc`); None when it does not say.
    """

    monotonic: bool
    resolution_s: float
    step_s: float
    source: str | None = None


@dataclass(frozen=True, kw_only=True)
class Gpus:
    """Per library (`amdsmi`, `nvml`) the names of the GPUs that it sees, and for one that sees none: why.

    `silent`: GPUs that a library sees and that tell it nothing, or neither energy nor power, and why. `modes`: compute
    and memory partition as amdsmi tells them, by PCI address.
    """

    seen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    silent: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class EngineFact:
    """An engine that is registered. `left`: it is up, and the run that started it is gone."""

    id: str
    arm: str
    status: str
    left: bool = False
    holder: str | None = None


@dataclass(frozen=True, kw_only=True)
class Need:
    """What one engine takes: `arms` that it serves, host memory in bytes, and whether it is `up` already."""

    arms: tuple[str, ...]
    need: int
    up: bool = False


@dataclass(frozen=True, kw_only=True)
class Processor:
    """`threads`: of the machine; `usable`: those that this process may run on; `quota`: cores per second of a control
    group, None without one; `governors`: of the usable ones, None where the system does not tell; `flags`: of use."""

    model: str | None
    threads: int
    usable: tuple[int, ...]
    quota: float | None = None
    governors: tuple[str, ...] | None = None
    flags: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Weights:
    """The profile's model. `problem`: why it is not ready; `checksums`: whether every byte was compared.

    `hub`: what is known of it where the engine itself fetches it; `size`: of its weights.
    """

    name: str
    problem: str = ""
    checksums: bool = False
    hub: HubModel | None = None
    size: ModelSize | None = None


@dataclass(frozen=True, kw_only=True)
class Drafter:
    """A drafter that has a model of its own. `method`: its name in the profile; `default`: the arms have this one."""

    method: str
    default: bool
    weights: Weights


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One machine under one profile, at one moment. Bytes and seconds; None: it cannot be told.

    `missing`: programs of a plan that are not on PATH, each with the arms that run it. `planned_threads`: per role,
    NUMBA_NUM_THREADS of the plan and the number of its cores. `steering`: names of variables in this environment that
    would steer an engine. `drafters`: those with a model of their own. `installation`: of the Python that would run the
    engine; None: there is none, or it did not tell, and then `unasked` says why.
    """

    profile: Profile
    python: str
    python_wanted: str
    system: str
    machine: str
    processor: Processor
    memory_total: int
    memory_free: int
    disks: tuple[Disk, ...]
    shm_free: int | None
    packages: tuple[Package, ...]
    missing: Mapping[str, tuple[str, ...]]
    libnuma: bool
    weights: Weights
    ports: tuple[Port, ...]
    load: Load
    clock: ClockFacts
    gpus: Gpus
    engines: tuple[EngineFact, ...]
    needs: tuple[Need, ...]
    planned_threads: Mapping[str, tuple[str | None, int]]
    steering: tuple[str, ...] = ()
    drafters: tuple[Drafter, ...] = ()
    hub_token: bool = False
    node: Node = field(default_factory=Node)
    installation: Installation | None = None
    unasked: str = ""
    took_s: float = 0.0
    checked: str = ""
