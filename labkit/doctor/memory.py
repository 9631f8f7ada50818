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
        todo="" if fits else _what_to_do(facts, ever),
        command="labkit down --all" if not fits and ever and _up(facts) else "",
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
        found="; ".join(_words(facts, each) for each in facts.needs) + _figure(facts),
        why="A toggle of an arm whose engine does not fit is refused.",
        todo=_what_to_do(facts, bool(ever)) if short else "",
        command="labkit down --all" if ever and _up(facts) else "",
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


def _figure(facts: Facts) -> str:
    """Where the numbers come from: nobody measures them before a start."""
    each = facts.profile.engine.memory_gib
    return f" ({each:g} GiB for each engine process: the profile's figure, `memory_gib` under [engine])"


def _up(facts: Facts) -> bool:
    return any(engine.status in ("up", "starting") for engine in facts.engines)


def _what_to_do(facts: Facts, ever: bool) -> str:
    if not ever:
        return (
            "Take a machine with more memory, or a smaller profile; where engines are known to take less than "
            "`memory_gib`, lower it."
        )
    if _up(facts):
        return "End engines that are not needed."
    return "No engine is up that could be ended: end other programs that take memory, or take a smaller profile."


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"
