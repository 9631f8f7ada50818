"""What a run was asked to do: one record that the command line, a job and a notebook fill in alike, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from labkit.core.arms import Arm, arm_named
from labkit.core.errors import BadInput
from labkit.core.records import Record
from labkit.experiments.design import Block, blocks
from labkit.traffic.replay import ReplayOptions


@dataclass(frozen=True, kw_only=True)
class Asked(Record):
    """The parameters of a replay run, JSON-able: it is what `run.json` keeps under `asked`.

    `recording`: a shipped name or a file. `strict`: prefix caching is switched by the server's flag (one engine per
    arm) and not per request by a salt (arms share engines). `keep`: leave the last engine up. `seed`: block-randomised
    order; None for the fixed order. `drift_check`: measure the first arm again at the end. `job`: who started the run.
    """

    profile: str
    recording: str
    arms: tuple[str, ...]
    steps: int | None = None
    repeats: int = 1
    seed: int | None = None
    drift_check: bool = False
    history: Literal["recorded", "live"] = "recorded"
    mode: Literal["natural", "pinned"] = "natural"
    gaps: bool = False
    spec_method: str | None = None
    strict: bool = False
    keep: bool = False
    job: str | None = None

    def options(self) -> ReplayOptions:
        """How each block is replayed. Raises BadInput."""
        return ReplayOptions(steps=self.steps, history=self.history, mode=self.mode, gaps=self.gaps)

    def in_words(self) -> str:
        """What the times mean: how it was replayed, in one line."""
        gaps = "recorded gaps slept" if self.gaps else "gaps left out"
        order = "fixed order" if self.seed is None else f"block-randomised order (seed {self.seed})"
        return f"{self.mode} replay, {self.history} history, {gaps}, {order}"

    def blocks(self) -> list[Block]:
        """What is measured, in order. Raises BadInput and UnknownName."""
        arms = [arm_named(label) for label in self.arms]
        return blocks(arms, self.repeats, self.seed, self.drift_check)


def arms_of(text: str) -> tuple[str, ...]:
    """`base,prefix` as labels. Raises UnknownName with the nearest labels, BadInput when nothing is named."""
    labels = [part.strip() for part in text.split(",") if part.strip()]
    named: list[Arm] = [arm_named(label) for label in labels]
    if not named:
        raise BadInput("arms", text, "labels with commas between, such as base,prefix")
    return tuple(arm.label for arm in named)


def recordings_of(text: str) -> tuple[str, ...]:
    """`one,two` as names or files. Raises BadInput when nothing is named."""
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    if not found:
        raise BadInput("recordings", text, "names or files with commas between", "List them with: labkit recordings")
    return found
