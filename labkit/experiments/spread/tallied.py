"""What happened to each arm over all nodes: the nodes' own tallies put together. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from labkit.experiments.spread.units import Unit
from labkit.experiments.verdict import Tally


@dataclass
class Sum:
    """Mutable: the run keeps it. `total`: what the verdict is about."""

    total: Tally = field(default_factory=Tally)

    def add(self, node: str, unit: Unit, own: Tally) -> None:
        """A repeat that was measured. What a node refuses it refuses again, and that is said once."""
        total = self.total
        total.measured += own.measured
        total.failed += own.failed
        for label, words in own.refused.items():
            if label in unit.labels:
                self._lost(label, f"on {node}: {words}")
        for label, cores in own.disturbed.items():
            total.disturbed[label] = max(cores, total.disturbed.get(label, 0.0))
        total.remarks += [f"{node}: {words}" for words in own.remarks]

    def given_up(self, lost: Mapping[int, tuple[Unit, str]]) -> None:
        """Repeats that nobody measured: their arms were not measured as often as was asked."""
        for unit, why in lost.values():
            for label in dict.fromkeys(unit.labels):
                self._lost(label, f"{unit.named} was not measured: {why}")

    def _lost(self, label: str, words: str) -> None:
        before = self.total.refused.get(label, "")
        if words not in before.split("; "):
            self.total.refused[label] = "; ".join(filter(None, (before, words)))
