"""Which arms fit beside what is up? The numbers that the fleet itself asks before it starts an engine."""

from __future__ import annotations

from labkit.doctor.facts import Facts, Need
from labkit.doctor.records import Check, Status

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
    )


def arms(facts: Facts) -> list[Check]:
    """One check per engine of the profile."""
    return [_arm(facts, need) for need in facts.needs]


def _arm(facts: Facts, each: Need) -> Check:
    fits, ever = each.up or each.need <= facts.memory_free, each.need <= facts.memory_total
    status: Status = "ok" if fits else "warn"
    words = (
        "it is up" if each.up else "it fits" if fits else "not beside what runs now" if ever else "more than there is"
    )
    return Check(
        name=f"Engine of {' and '.join(each.arms)}",
        area="memory",
        status=status,
        found=f"needs {_gib(each.need)}: {words}",
        why="A toggle of an arm whose engine does not fit is refused.",
        todo="" if fits else _what_to_do(ever),
        command="" if fits or not ever else "labkit down --all",
    )


def _what_to_do(ever: bool) -> str:
    return "End engines that are not needed." if ever else "Take a machine with more memory, or a smaller profile."


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"
