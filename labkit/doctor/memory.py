"""Which arms fit beside what is up? The numbers that the fleet itself asks before it starts an engine."""

from __future__ import annotations

from labkit.doctor.facts import Facts, Need
from labkit.doctor.records import Check

_GIB = 1 << 30


def free(facts: Facts) -> Check:
    """Memory that a new engine could take; fails when the smallest engine that is not up could not."""
    missing = [each.need for each in facts.needs if not each.up]
    fits = not missing or min(missing) <= facts.memory_free
    ever = not missing or min(missing) <= facts.memory_total
    return Check(
        name="Free memory",
        area="memory",
        status="ok" if fits else "warn" if ever else "fail",
        found=f"{_gib(facts.memory_free)} of {_gib(facts.memory_total)} free",
        why="The fleet refuses a start that does not fit: the kernel would kill the engine without a word.",
        todo="" if fits else _what_to_do(ever),
        command="" if fits or not ever else "labkit down --all",
        stops=(),
    )


def arms(facts: Facts) -> Check:
    """Which engines of the profile fit now."""
    short = [each for each in facts.needs if not each.up and each.need > facts.memory_free]
    ever = [each for each in short if each.need <= facts.memory_total]
    return Check(
        name="Room for engines",
        area="memory",
        status="warn" if short else "ok",
        found="; ".join(_words(facts, each) for each in facts.needs),
        why="A toggle of an arm whose engine does not fit is refused.",
        todo=_what_to_do(bool(ever)) if short else "",
        command="labkit down --all" if ever else "",
        stops=tuple(arm for each in short for arm in each.arms),
    )


def _words(facts: Facts, each: Need) -> str:
    who = ", ".join(each.arms)
    if each.up:
        return f"{who}: is up"
    if each.need <= facts.memory_free:
        return f"{who}: {_gib(each.need)}, fits"
    ever = each.need <= facts.memory_total
    return f"{who}: {_gib(each.need)}, {'not beside what runs now' if ever else 'more than there is'}"


def _what_to_do(ever: bool) -> str:
    return "End engines that are not needed." if ever else "Take a machine with more memory, or a smaller profile."


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"
