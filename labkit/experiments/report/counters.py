"""What the engines' own counters say of the run: whether one began again, and whether cold passes began cold."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.analysis.counter_events import counters
from labkit.experiments.cold import resets
from labkit.experiments.report.english import counted
from labkit.experiments.report.material import Material


def restarts(material: Material) -> Iterator[str]:
    """A sentence for each process whose counters were reset while it was measured; one sentence when none was."""
    found = resets(material.events)
    for one in found:
        yield f"The counters of {one.role} of {one.arm}, block {one.repeat + 1}, began again while measured ({one.why})"
    passes = len(counters(material.events))
    if passes and not found:
        yield f"No engine's counters were reset within any of {counted(passes, 'pass', 'passes')}"


def unconfirmed(material: Material) -> Iterator[str]:
    """A sentence for each block whose cold passes are not known to have begun cold."""
    for one in material.cold:
        if one.state != "confirmed":
            yield f"Cold is unconfirmed in {one.arm}, block {one.repeat + 1}: {one.why}"
