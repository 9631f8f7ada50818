"""Runs whose gains are planted: every time is a known product, so that effects have exact answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from builders import a_step

from labkit.core.arms import ARMS, arm_named
from labkit.core.records import StepRecord

GAINS = {
    "prefix_caching": 2.0,
    "pd_split": 0.8,
    "speculation": 1.25,
    "prefix_caching:pd_split": 0.9,
    "prefix_caching:speculation": 1.1,
    "pd_split:speculation": 1.05,
    "prefix_caching:pd_split:speculation": 1.2,
}
ALL = tuple(arm.label for arm in ARMS)


def seconds(arm: str, gains: Mapping[str, float] = GAINS) -> float:
    """1 s divided by the gains, with every term at half its size either way (effect coding): its own gain exactly."""
    on = {layer: 1 if layer in arm_named(arm).layers else -1 for layer in GAINS if ":" not in layer}
    log = 0.0
    for term, gain in gains.items():
        parts = term.split(":")
        log -= math.log(gain) * math.prod(on[part] for part in parts) / 2 ** len(parts)
    return math.exp(log)


def planted(
    arms: Sequence[str] = ALL,
    tasks: int = 5,
    turns: int = 2,
    repeats: int = 2,
    gains: Mapping[str, float] = GAINS,
    noise: Callable[[], float] = lambda: 0.0,
    **changes: object,
) -> list[StepRecord]:
    """Every arm, task, repeat and turn; longer by task and turn, and off by exp(noise())."""
    made = []
    for arm in arms:
        for task, repeat, turn in np.ndindex(tasks, repeats, turns):
            took = seconds(arm, gains) * (1 + task) * (1 + turn / 2) * math.exp(noise())
            values = {
                "arm": arm, "task": f"t{task}", "repeat": repeat, "turn": turn + 1, "t_send": 0.0,
                "t_first_token": took / 2, "t_last": took, "t_end": took, "prompt_tokens": 1000,
                "completion_tokens": 20,
                "cached_tokens": 500 if "prefix_caching" in arm_named(arm).layers else 0,
            }  # fmt: skip
            made.append(a_step(**{**values, **changes}))
    return made
