"""Is anything in the way of the next engine: a port, or what a crash left behind?"""

from __future__ import annotations

from labkit.doctor.facts import EngineFact, Facts
from labkit.doctor.records import Check


def ports(facts: Facts) -> Check:
    """The ports that the profile fixes."""
    taken = [port for port in facts.ports if port.holder and not port.ours]
    ours = [port for port in facts.ports if port.ours]
    if not facts.ports:
        found = "the profile fixes none: an engine takes free ones"
    elif taken:
        found = "; ".join(f"{port.number} ({port.name}) is in use by {port.holder}" for port in taken)
    else:
        found = (
            f"all {len(facts.ports)} are free" if not ours else f"{len(ours)} are an engine's of ours, the rest free"
        )
    return Check(
        name="Ports",
        area="environment",
        status="fail" if taken else "ok",
        found=found,
        why="An engine whose port is taken never becomes healthy.",
        todo="End that process, or choose other ports under [ports] of the profile." if taken else "",
        command=f"ss -ltnp 'sport = :{taken[0].number}'" if taken else "",
    )


def leftovers(facts: Facts) -> Check:
    """Engines that died, or whose run did."""
    remains = [engine for engine in facts.engines if engine.left or engine.status in ("dead", "orphaned")]
    up = [engine for engine in facts.engines if engine not in remains]
    fine = f"none; {len(up)} engine{'s' * (len(up) != 1)} up or starting" if up else "none, and no engine is up"
    return Check(
        name="Remains of a crash",
        area="environment",
        status="warn" if remains else "ok",
        found="; ".join(map(_remains, remains)) or fine,
        why="An engine that nobody asked for any more still takes memory, and time from the one that is measured.",
        todo="End it, unless you want to go on using it." if remains else "",
        command=f"labkit down {remains[0].id}" if remains else "",
    )


def _remains(engine: EngineFact) -> str:
    held = f", and {engine.holder} uses it" if engine.holder else ""
    return f"{engine.id} is {'up, but the run that started it is gone' if engine.left else engine.status}{held}"
