"""The engines' own counters as the run noted them around each pass: whether any of them started again in between."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.experiments.report.english import counted
from labkit.experiments.report.material import Material


def restarts(material: Material) -> Iterator[str]:
    """A sentence for each process whose counters were reset within a pass; one sentence when none was."""
    passes = list(material.told("counters"))
    found = [
        f"The counters of {role} of {event['arm']} began again within a pass ({of['restarted']}): it is not counted"
        for event in passes
        for role, of in (event.get("processes") or {}).items()
        if of.get("restarted")
    ]
    yield from dict.fromkeys(found)
    if passes and not found:
        yield f"No engine's counters were reset within any of {counted(len(passes), 'pass', 'passes')}"
