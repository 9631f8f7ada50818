"""How far a spread run is: what each node says, in one line, and how long it still takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from labkit.core.progress import OnProgress, Progress, silent
from labkit.experiments.design import Design
from labkit.experiments.spread.units import Unit
from labkit.store.runs import RunWriter

_EVENTS_EVERY_S = 1.0


class Telling:
    """Put together from the nodes' own progress. `units`: of the whole run."""

    def __init__(
        self, writer: RunWriter, design: Design, units: Sequence[Unit], on_progress: OnProgress = silent
    ) -> None:
        self._writer, self._on_progress = writer, on_progress
        self._steps = {unit.repeat: (0.0, float(sum(map(design.count, unit.numbers)))) for unit in units}
        self._said: dict[str, str] = {}
        self._eta: dict[str, float] = {}
        self._waiting = {unit.repeat for unit in units}
        self._longest = 0.0
        self._written = -math.inf

    def began(self, node: str, unit: Unit) -> None:
        """This node measures this repeat from now on; what another had of it counts no more."""
        self._waiting.discard(unit.repeat)
        self._steps[unit.repeat] = (0.0, self._steps[unit.repeat][1])
        self.say(node, f"begins {unit.named}")

    def heard(self, node: str, unit: Unit, said: Mapping[str, Any]) -> None:
        """A node's own progress, within the repeat that it measures."""
        self._steps[unit.repeat] = (said["done"] or 0.0, said["total"] or 0.0)
        self._eta[node] = said["eta_s"] or 0.0
        self._longest = max(self._longest, self._eta[node])
        self.say(node, Progress(stage=said["stage"], message=said["message"]).said)

    def idle(self, node: str, words: str = "done") -> None:
        """The node has nothing to measure now."""
        self._eta.pop(node, None)
        self.say(node, words)

    def say(self, node: str, words: str) -> None:
        """Tell the caller at once, and the run folder once per second."""
        self._said[node] = words
        done, total = (sum(each) for each in zip(*self._steps.values(), strict=True))
        others = ", ".join(f"{name}: {said}" for name, said in self._said.items() if name != node)
        progress = Progress(stage=f"{node}: {words}", message=others, done=done, total=total, eta_s=self._eta_s())
        self._on_progress(progress)
        if (now := self._writer.now()) - self._written >= _EVENTS_EVERY_S:
            self._written = now
            told = {name: getattr(progress, name) for name in ("stage", "message", "done", "total", "eta_s")}
            self._writer.event("progress", node=node, **told)

    def _eta_s(self) -> float | None:
        """The node that still has most to do, and the repeats that wait, each as long as the longest was said to be."""
        if not self._eta:
            return None
        rounds = math.ceil(len(self._waiting) / len(self._eta))
        return round(max(self._eta.values()) + rounds * self._longest, 1)
