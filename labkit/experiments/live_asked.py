"""What a live run was asked to do: one recording replayed, or one task worked at, by agents at once, lap after lap."""

from __future__ import annotations

from dataclasses import dataclass

from labkit.agents.requests import ToolMode
from labkit.agents.tasks import load_task
from labkit.core.arms import Arm, arm_named
from labkit.core.errors import BadInput
from labkit.core.records import Record
from labkit.experiments.agent_asked import AgentAsked
from labkit.experiments.load import AT_MOST
from labkit.traffic.recording import named
from labkit.traffic.replay import ReplayOptions


@dataclass(frozen=True, kw_only=True)
class LiveAsked(Record):
    """JSON-able: `run.json` keeps it under `asked`. Fields with a meaning in `Asked` have it here.

    `recording` or `task`: exactly one; who replays sends what was recorded, who works decides anew. `arms`: what laps
    are planned for, in turn; a wish (see `steering`) changes that while the run goes on. `laps`: of each arm; 0: until
    somebody stops it. `steps`: of each agent in a lap. `gaps`: the recorded time of tools is slept. `tool_mode`,
    `temperature`, `seed`: of live agents; the same seeds in every arm. `beside`: id of the run that this one repeats
    under another arm.
    """

    profile: str
    arms: tuple[str, ...] = ("base", "prefix")
    recording: str | None = None
    task: str | None = None
    agents: int = 1
    steps: int | None = None
    laps: int = 1
    gaps: bool = True
    tool_mode: ToolMode = "grammar"
    temperature: float = 0.6
    seed: int = 0
    spec_method: str | None = None
    strict: bool = False
    keep: bool = False
    beside: str | None = None
    job: str | None = None

    def checked(self) -> LiveAsked:
        """Itself. Raises BadInput and UnknownName for what cannot be asked."""
        _check_what(self.recording, self.task, self.steps)
        if not self.arms or len(self.planned) < len(self.arms):
            raise BadInput("arms", self.arms, "one arm or more, each once")
        if not 1 <= self.agents <= AT_MOST:
            raise BadInput("agents", self.agents, f"1 to {AT_MOST}")
        if self.laps < 0:
            raise BadInput("laps", self.laps, "0 or more; 0: again and again until it is stopped")
        if self.temperature < 0:
            raise BadInput("temperature", self.temperature, "0 or more")
        if self.tool_mode not in ("grammar", "required"):
            raise BadInput("tool_mode", self.tool_mode, "grammar or required")
        return self

    @property
    def planned(self) -> list[Arm]:
        """The arms that are asked for, each once. Raises UnknownName."""
        return list(dict.fromkeys(map(arm_named, self.arms)))

    @property
    def what(self) -> str:
        """The name of the recording or the task."""
        return self.recording or self.task or ""

    def options(self) -> ReplayOptions:
        """How the recording is replayed. Raises BadInput."""
        return ReplayOptions(steps=self.steps, gaps=self.gaps)

    def attempt(self, arm: str, number: int) -> AgentAsked:
        """The `number`-th attempt at the task under this arm: its seed is that of the same number in every arm."""
        return AgentAsked(
            task=self.task or "",
            profile=self.profile,
            arm=arm,
            tool_mode=self.tool_mode,
            steps=self.steps,
            temperature=self.temperature,
            seed=self.seed + number if self.temperature else None,
            attempt=number,
        )

    def in_words(self) -> str:
        """What was sent, and how, in one line."""
        gaps = "recorded gaps slept" if self.gaps else "gaps left out"
        sent = f"natural replay, recorded history, {gaps}" if self.recording else f"live agents at {self.task}"
        laps = f"{self.laps} {'lap' if self.laps == 1 else 'laps'} of each arm" if self.laps else "laps until stopped"
        return (
            f"{sent}, {self.agents} {'agent' if self.agents == 1 else 'agents'} at once, {laps}, steered while it ran"
        )


def _check_what(recording: str | None, task: str | None, steps: int | None) -> None:
    if (recording is None) == (task is None):
        given = "both" if recording else None
        raise BadInput("recording or task", given, "exactly one of them", "List them: labkit recordings, labkit tasks")
    if recording is not None:
        named(recording)
        ReplayOptions(steps=steps)
        return
    load_task(task or "")
    if steps is not None and steps < 2:
        raise BadInput("steps", steps, "2 or more: a plan and an answer")
