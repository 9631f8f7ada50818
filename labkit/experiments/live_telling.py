"""How far a live run is: told to its caller, and kept as `progress` events for whoever reads the folder."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from labkit.core.progress import OnProgress, Progress, silent
from labkit.experiments.forecast import GUESS_STEP_S
from labkit.store.runs import RunWriter

_EVENTS_EVERY_S = 1.0


@dataclass
class Telling:
    """`done` of `total` steps; total None: until somebody stops it. `agents` work at once."""

    writer: RunWriter
    total: int | None
    agents: int = 1
    on_progress: OnProgress = silent
    done: int = 0
    start_left_s: float = 0.0
    """Seconds that the engine which is being started still takes."""
    idle_s: float = 0.0
    """Seconds in which no step could be sent, since an engine was started or warmed up."""
    _began: float | None = field(default=None, init=False)
    _written: tuple[str, float] = field(default=("", 0.0), init=False)

    def say(self, stage: str, message: str = "", *, often: bool = False) -> None:
        """What is going on now. `often`: one of many alike, of which the folder keeps one per second."""
        progress = Progress(stage=stage, message=message, done=self.done, total=self.total, eta_s=self._eta_s())
        now, (last_stage, last_t) = self.writer.now(), self._written
        if not (often and stage == last_stage and now - last_t < _EVENTS_EVERY_S):
            self.writer.event("progress", **dataclasses.asdict(progress))
            self._written = (stage, now)
        self.on_progress(progress)

    def began(self) -> None:
        """The first lap begins: from here on the run learns how long a step takes."""
        if self._began is None:
            self._began, self.idle_s = self.writer.now(), 0.0

    def step(self, arm: str, message: str) -> None:
        """A step has ended."""
        self.done += 1
        self.say(f"measuring {arm}", message)

    def starting(self, progress: Progress) -> None:
        """What the fleet says while it starts an engine; its seconds go into the time left."""
        if progress.total is not None and progress.done is not None:
            self.start_left_s = max(0.0, progress.total - progress.done)
        self.say(progress.stage, progress.message, often=True)

    def expect(self, steps: int | None) -> None:
        """So many steps are still to come; None: without end."""
        self.total = None if steps is None else self.done + steps

    def dropped(self, steps: int) -> None:
        """So many of those that were expected will not come."""
        self.total = None if self.total is None else max(self.done, self.total - steps)

    def _eta_s(self) -> float | None:
        if self.total is None:
            return round(self.start_left_s, 1) or None
        left = self.start_left_s + (self.total - self.done) * self._step_s()
        return round(left, 1)

    def _step_s(self) -> float:
        """Seconds from one step's end to the next one's, all agents together."""
        if self._began is None or not self.done:
            return GUESS_STEP_S / self.agents
        return max(0.0, self.writer.now() - self._began - self.idle_s) / self.done
