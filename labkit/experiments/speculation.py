"""Which drafter guesses what: acceptance by kind of step and depth of turn, and what it gains or costs in time.

Each drafter is a block of its own on the same arm, told by its condition, `method=NAME`; beside them stands the same
arm without speculation, so that every step has its pair. Replies are always natural: an engine that may not stop says
what it never would, and acceptance of that is nobody's.

Repeats are apart: all drafters once, then all again, and an engine is started anew for each. A drafter that learns from
earlier replies, as suffix does, must not meet the same replies a second time; it does on an engine that was up before
the run and is therefore used in every repeat.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from labkit.core.arms import Arm, arm_named
from labkit.core.conditions import of_method, of_reference
from labkit.core.errors import BadInput
from labkit.core.names import pick
from labkit.core.records import Record
from labkit.experiments.design import Block, Design, Pass
from labkit.traffic.recording import named
from labkit.traffic.replay import ReplayOptions

if TYPE_CHECKING:
    from labkit.engines.profiles import Profile

SPECULATION_RECORDINGS = ("ranks-that-jump-live", "evict-one-late-live", "night-shifts")
"""Three tasks, so that an interval can be over tasks; the last one is long enough for late turns."""


@dataclass(frozen=True, kw_only=True)
class SpeculationAsked(Record):
    """JSON-able: `run.json` keeps it under `asked`. Fields with a meaning in `Asked` have it here.

    `methods`: drafters of the profile; none: all that it has. `arm`: one with speculation; the reference is the same
    arm without. `seed`: the order within each repeat is shuffled; None: reference first, then as the methods are named.
    """

    profile: str
    methods: tuple[str, ...] = ()
    recordings: tuple[str, ...] = SPECULATION_RECORDINGS
    arm: str = "prefix+spec"
    steps: int | None = None
    repeats: int = 1
    seed: int | None = None
    history: Literal["recorded", "live"] = "recorded"
    strict: bool = False
    keep: bool = False
    job: str | None = None

    def drafters(self, profile: Profile) -> tuple[str, ...]:
        """The methods, by name. Raises UnknownName for one that the profile has not, BadInput for one named twice."""
        known = profile.layers.speculation.methods
        for method in self.methods:
            pick("spec method", method, known, f"labkit plan --profile {profile.name} --methods")
        if len(set(self.methods)) < len(self.methods):
            raise BadInput("methods", list(self.methods), "each drafter once", "Ask for repeats to measure it again.")
        return self.methods or tuple(known)

    def design(self, profile: Profile) -> Design:
        """Reference and drafters, as many times as there are repeats. Raises BadInput and UnknownName.

        The provider's own drafter must be the first of `drafters`: its pins are those of a reference without a name.
        """
        conditions = self._conditions(profile)
        recordings = [named(name) for name in self.recordings]
        options = ReplayOptions(steps=self.steps, history=self.history)

        def passes(block: Block) -> Sequence[Pass]:
            told = conditions[replace(block, repeat=0)]
            return [Pass(recording=each, options=options, condition=told) for each in recordings]

        return Design(tuple(self._order(list(conditions))), passes, fresh_starts=True)

    def _conditions(self, profile: Profile) -> dict[Block, str]:
        """The blocks of one repeat, and the condition of each one's rows."""
        methods, (arm, without) = self.drafters(profile), self._arms()
        blocks = {Block(without, 0): of_reference()}
        blocks |= {Block(without, 0, group[0]): of_reference(group) for group in _alike(profile, methods)[1:]}
        return blocks | {Block(arm, 0, method): of_method(method) for method in methods}

    def _arms(self) -> tuple[Arm, Arm]:
        arm = arm_named(self.arm)
        if not arm.speculation:
            raise BadInput("arm", self.arm, "one with speculation: spec, prefix+spec, pd+spec, all")
        return arm, replace(arm, speculation=False)

    def _order(self, batch: Sequence[Block]) -> list[Block]:
        if self.repeats < 1:
            raise BadInput("repeats", self.repeats, "1 or more")
        dice = None if self.seed is None else random.Random(self.seed)
        order: list[Block] = []
        for repeat in range(self.repeats):
            drawn = list(dice.sample(batch, len(batch)) if dice else batch)
            order += [replace(block, repeat=repeat) for block in drawn]
        return order

    def in_words(self) -> str:
        """What was sent, and how, in one line."""
        order = "fixed order" if self.seed is None else f"shuffled in each repeat (seed {self.seed})"
        return f"natural replay on {self.arm}, {self.history} history, {order}"


def _alike(profile: Profile, methods: Sequence[str]) -> list[tuple[str, ...]]:
    """Drafters by the engine settings that they need: those with the same share a reference."""
    groups: dict[str, tuple[str, ...]] = {}
    for method in methods:
        pins = json.dumps(profile.layers.speculation.methods[method].pins, sort_keys=True)
        groups[pins] = (*groups.get(pins, ()), method)
    return list(groups.values())
