"""All checks, by area: a new one is a function of the facts and a line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from labkit.doctor import memory
from labkit.doctor.environment import fleet, gpus, installed, processor, storage
from labkit.doctor.facts import Facts
from labkit.doctor.records import Check, Report

Examination = Callable[[Facts], Check | list[Check]]

CHECKS: tuple[Examination, ...] = (
    installed.python,
    installed.platform,
    installed.packages,
    installed.programs,
    installed.libnuma,
    installed.weights,
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
    memory.free,
    memory.arms,
)


def examine(facts: Facts, further: Sequence[Check] = ()) -> Report:
    """Every check over these facts, and `further` ones that were made of something else, such as a recording."""
    found = chain.from_iterable(_listed(check(facts)) for check in CHECKS)
    return Report(profile=facts.profile.name, checked=facts.checked, took_s=facts.took_s, checks=(*found, *further))


def _listed(found: Check | list[Check]) -> list[Check]:
    return found if isinstance(found, list) else [found]
