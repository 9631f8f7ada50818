"""What a confirmation was asked to do: is the faster arm as good at the tasks as the one that it is to replace?"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from labkit.agents.tasks import list_tasks, load_task
from labkit.core.arms import Arm, arm_named
from labkit.core.errors import BadInput
from labkit.core.records import Record


@dataclass(frozen=True, kw_only=True)
class ConfirmAsked(Record):
    """JSON-able: it is what `run.json` keeps under `asked`.

    `arm` is to replace `against`. `tasks`: names; empty: all. `attempts`: at each task in each arm, with the same seeds
    in both. `margin`: how much lower a success rate of `arm` would be tolerated, fixed before anything is measured.
    `seed`: of the order and of the attempts. `steps`: most LLM calls of one attempt; None: as many as the task says.
    """

    profile: str
    arm: str = "prefix+spec"
    against: str = "base"
    tasks: tuple[str, ...] = ()
    attempts: int = 2
    margin: float = 0.1
    steps: int | None = None
    temperature: float = 0.6
    tool_mode: Literal["grammar", "required"] = "grammar"
    spec_method: str | None = None
    strict: bool = False
    seed: int = 0
    keep: bool = False
    job: str | None = None

    def checked(self) -> ConfirmAsked:
        """Itself. Raises BadInput and UnknownName for what cannot be asked."""
        if arm_named(self.arm) == arm_named(self.against):
            raise BadInput("arm", self.arm, f"another arm than {self.against}")
        if self.attempts < 1:
            raise BadInput("attempts", self.attempts, "1 or more")
        if self.attempts > 1 and self.temperature == 0:
            raise BadInput("attempts", self.attempts, "1 at temperature 0", "There every attempt says the same.")
        if not 0 < self.margin < 1:
            raise BadInput("margin", self.margin, "a share between 0 and 1, such as 0.1")
        for name in self.tasks:
            load_task(name)
        return self

    @property
    def task_names(self) -> tuple[str, ...]:
        """The tasks that are tried."""
        return self.tasks or tuple(list_tasks())

    def order(self) -> list[tuple[Arm, int]]:
        """Arm and attempt of each block: in every attempt both arms, in random order."""
        dice, blocks = random.Random(self.seed), []
        for attempt in range(self.attempts):
            pair = [arm_named(self.against), arm_named(self.arm)]
            dice.shuffle(pair)
            blocks += [(arm, attempt) for arm in pair]
        return blocks

    def in_words(self) -> str:
        """How it was tried, in one line."""
        return (
            f"{_counted(len(self.task_names), 'task')} x {_counted(self.attempts, 'attempt')}{self._at_most()}, live, "
            f"temperature {self.temperature}, margin {self.margin:.0%}, random order (seed {self.seed})"
        )

    def _at_most(self) -> str:
        return f" of at most {self.steps} steps" if self.steps else ""


def _counted(n: int, word: str) -> str:
    return f"{n} {word}{'s' * (n != 1)}"
