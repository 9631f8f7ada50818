"""Tells everybody how far the run is: the caller by a callback, whoever reads the run folder by `progress` events.

One event holds a Progress record: stage, message, done and total steps, and the seconds left.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from labkit.core.progress import OnProgress, Progress, silent
from labkit.experiments.forecast import Forecast
from labkit.store.runs import RunWriter

_EVENTS_EVERY_S = 1.0


@dataclass
class Reporter:
    """The run's progress. `done` of `total` steps; warm-up is not counted."""

    writer: RunWriter
    forecast: Forecast
    total: int
    on_progress: OnProgress = silent
    done: int = 0
    _written: tuple[str, float] = ("", 0.0)

    def say(self, stage: str, message: str = "", *, often: bool = False) -> None:
        """What is going on now. `often`: one of many alike, of which the folder keeps one per second."""
        eta = round(self.forecast.eta_s(), 1)
        progress = Progress(stage=stage, message=message, done=self.done, total=self.total, eta_s=eta)
        now, (last_stage, last_t) = self.writer.now(), self._written
        if not (often and stage == last_stage and now - last_t < _EVENTS_EVERY_S):
            self.writer.event("progress", **dataclasses.asdict(progress))
            self._written = (stage, now)
        self.on_progress(progress)

    def step(self, arm: str, turn: int, seconds: float, message: str) -> None:
        """A step ended after `seconds`, its gap included."""
        self.done += 1
        self.forecast.step_took(arm, seconds)
        self.say(f"measuring {arm}", f"turn {turn}: {message}")

    def tick(self, arm: str, message: str) -> None:
        """A second of a window is over: a load is planned by its time, not by its steps."""
        self.done += 1
        self.forecast.step_took(arm, 1.0)
        self.say(f"measuring {arm}", message, often=True)

    def starting(self, block: int) -> OnProgress:
        """Passes on what the fleet says while the engine of this block starts; its seconds go into the time left."""

        def relay(progress: Progress) -> None:
            if progress.total is not None and progress.done is not None:
                self.forecast.start_left(block, progress.total - progress.done)
            self.say(progress.stage, progress.message, often=True)

        return relay

    def dropped(self, arm: str, steps: int) -> None:
        """This many steps of the arm will not come."""
        self.total -= steps
        self.forecast.drop(arm)
