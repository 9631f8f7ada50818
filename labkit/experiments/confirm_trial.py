"""A confirmation under way: which attempts were made, which arms were given up, and how far it is."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from labkit.agents.steps import Outcome
from labkit.analysis.outcomes import NEVER_RAN
from labkit.core.arms import Arm
from labkit.core.clock import Clock
from labkit.core.errors import EngineDied, EngineError
from labkit.core.progress import OnProgress, Progress
from labkit.experiments.agent_asked import AgentAsked
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.experiments.lament import words_of
from labkit.experiments.serving import EngineProvider
from labkit.store.runs import RunWriter


@dataclass
class Trial:
    """The state of one confirmation. Mutable. `made`: arm, task and attempt; `refused`: arm to why it was given up."""

    asked: ConfirmAsked
    provider: EngineProvider
    writer: RunWriter
    clock: Clock
    on_progress: OnProgress
    made: set[tuple[str, str, int]] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)

    def say(self, stage: str, message: str = "") -> None:
        """Tell how far it is."""
        told = self._progress(stage, message)
        self.writer.event("progress", **dataclasses.asdict(told))
        self.on_progress(told)

    def starting(self, progress: Progress) -> None:
        """Show what the fleet says while an engine starts, beside how far the trial is; its seconds are no attempts."""
        self.on_progress(self._progress(progress.stage, progress.message))

    def _progress(self, stage: str, message: str) -> Progress:
        done, total = len(self.made), len([key for key in self._planned() if key in self.made or self._comes(key[0])])
        left = self.writer.now() / done * (total - done) if done else None
        return Progress(stage=stage, message=message, done=done, total=total, eta_s=left)

    def ended(self, attempt: AgentAsked, outcome: Outcome) -> None:
        """An attempt is over, well or not: it has been made, whatever became of its engine."""
        self.made.add((attempt.arm, attempt.task, attempt.attempt))
        self._tell(attempt.arm, attempt.task, attempt.attempt, seed=attempt.seed, **dataclasses.asdict(outcome))

    def give_up(self, arm: Arm, number: int, error: EngineError) -> None:
        """The arm cannot be served (any more): keep the engine's own words and go on without it."""
        kind = "engine_died" if isinstance(error, EngineDied) and self._tried(arm.label) else "refused"
        words = words_of(error)
        self.refused[arm.label] = words["message"]
        self.writer.event(kind, arm=arm.label, label=arm.label, repeat=number, **words)

    def pass_over(self, arm: Arm, number: int) -> None:
        """What is left of a block of an arm that was given up: not solved, unless the arm was never tried at all."""
        for task in self.asked.task_names if self._tried(arm.label) else ():
            if (arm.label, task, number) not in self.made:
                facts = {"steps": 0, "seconds": None, "reached": False}
                self._tell(arm.label, task, number, stop_reason=NEVER_RAN, **facts)

    def note(self) -> str:
        """Which arms were given up, when and why; a line each."""
        return "\n".join(f"{arm} {self._when(arm)}: {why}" for arm, why in self.refused.items())

    def _when(self, arm: str) -> str:
        planned, made = (len([key for key in keys if key[0] == arm]) for keys in (self._planned(), self.made))
        return f"given up after {made} of {planned} attempts" if made else "not measured"

    def _tell(self, arm: str, task: str, number: int, **facts: Any) -> None:
        self.writer.event("outcome", arm=arm, task=task, attempt=number, **facts)

    def _planned(self) -> list[tuple[str, str, int]]:
        return [(arm.label, task, number) for arm, number in self.asked.order() for task in self.asked.task_names]

    def _comes(self, arm: str) -> bool:
        return arm not in self.refused

    def _tried(self, arm: str) -> bool:
        return any(label == arm for label, *_ in self.made)
