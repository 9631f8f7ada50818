"""How far a node's clock stands from the run's: asked some times over, as NTP does.

The driver reads its clock, asks the node for its own, and reads again: the node's reading lies somewhere between the
two. Taking it for the middle is wrong by half the round trip at most, so the shortest round trip is the one believed.
offset = node - (before + after) / 2, uncertainty = (after - before) / 2 (Mills, RFC 5905, section 8).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from labkit.core.clock import Clock

ASKED = 20
NOTABLE_S = 0.001
"""A smaller change between two measurements is not worth a sentence."""


@dataclass(frozen=True)
class Offset:
    """Seconds that the node's clock is ahead of the driver's, and how far off that can be."""

    offset_s: float
    uncertainty_s: float

    def drift_to(self, later: Offset) -> float | None:
        """Seconds that it moved until `later`; None where the two measurements cannot tell that it did."""
        moved = later.offset_s - self.offset_s
        known = abs(moved) > self.uncertainty_s + later.uncertainty_s
        return moved if known and abs(moved) > NOTABLE_S else None


def best(samples: Sequence[tuple[float, float, float]]) -> Offset:
    """`samples`: at least one of (driver before, node, driver after), in seconds of their clocks."""
    before, node, after = min(samples, key=lambda sample: sample[2] - sample[0])
    return Offset(node - (before + after) / 2, (after - before) / 2)


async def measured_offset(ask: Callable[[], Awaitable[float]], clock: Clock, times: int = ASKED) -> Offset:
    """`ask`: reads the node's clock. Call it when nothing is measured there."""
    samples = []
    for _ in range(times):
        before = clock.now()
        samples.append((before, await ask(), clock.now()))
    return best(samples)
