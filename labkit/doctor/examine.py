"""All checks, by area: a new one is a function of the facts and a line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from labkit.doctor import gpu_memory, memory, transfer
from labkit.doctor.environment import (
    drafters,
    driver,
    engine_build,
    fleet,
    gpu_use,
    gpus,
    installed,
    model,
    processor,
    shell,
    storage,
)
from labkit.doctor.facts import Facts
from labkit.doctor.records import Check, Report

Examination = Callable[[Facts], Check | list[Check]]

CHECKS: tuple[Examination, ...] = (
    installed.python,
    installed.platform,
    installed.packages,
    installed.programs,
    installed.libnuma,
    model.weights,
    model.hub,
    model.disk,
    drafters.drafter,
    drafters.others,
    installed.hub_token,
    processor.cores,
    processor.instructions,
    processor.governor,
    processor.others,
    processor.threads,
    processor.clock,
    storage.disks,
    storage.shared_memory,
    fleet.ports,
    fleet.leftovers,
    gpus.gpus,
    driver.driver,
    driver.device_files,
    gpus.partitions,
    gpu_use.in_use,
    gpus.telemetry,
    engine_build.build,
    engine_build.python,
    driver.runtime,
    engine_build.aiter,
    shell.visible_devices,
    shell.limits,
    shell.numa_balancing,
    memory.free,
    memory.arms,
    gpu_memory.gpu_memory,
    transfer.library,
    transfer.router,
    transfer.network,
    shell.old_variables,
)


def examine(facts: Facts, further: Sequence[Check] = ()) -> Report:
    """Every check over these facts, and `further` ones that were made of something else, such as a recording."""
    found = checks(facts)
    return Report(profile=facts.profile.name, checked=facts.checked, took_s=facts.took_s, checks=(*found, *further))


def checks(facts: Facts) -> tuple[Check, ...]:
    """Every check of the machine, in the order in which they are listed."""
    return tuple(chain.from_iterable(_listed(check(facts)) for check in CHECKS))


def _listed(found: Check | list[Check]) -> list[Check]:
    return found if isinstance(found, list) else [found]
