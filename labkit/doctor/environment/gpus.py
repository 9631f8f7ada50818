"""Which GPUs does the lab see, and are they as many as the profile places engines on?"""

from __future__ import annotations

from labkit.doctor.facts import Facts
from labkit.doctor.records import Check, Status


def gpus(facts: Facts) -> Check:
    """The GPUs of all libraries against those of the profile."""
    wanted = len({gpu for group in facts.profile.engine.gpus for gpu in group})
    seen = max((len(names) for names in facts.gpus.seen.values()), default=0)
    status: Status = "ok" if seen >= wanted else "fail"
    return Check(
        name="GPUs",
        area="environment",
        status=status,
        found=_found(facts, wanted),
        why="The profile places its engines on them; power and energy are read through the same libraries."
        if wanted
        else "This profile needs none; those that are here have their power read.",
        todo="" if status == "ok" else "Run on a machine that has them, with its driver and amdsmi installed.",
        command="" if status == "ok" else "labkit doctor --profile cpu-smollm2",
    )


def _found(facts: Facts, wanted: int) -> str:
    seen = [f"{library}: {len(names)} ({', '.join(names)})" for library, names in facts.gpus.seen.items()]
    unread = [f"{library}: {reason}" for library, reason in facts.gpus.unread.items()]
    need = f"{wanted} wanted; " if wanted else ""
    return need + ("; ".join(seen) if seen else f"none seen ({'; '.join(unread)})" if unread else "none seen")
