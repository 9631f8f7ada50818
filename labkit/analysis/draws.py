"""Simulated experiments: the log times of requests in all eight arms, many experiments at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from labkit.analysis.contrasts import Contrast, term_contrasts
from labkit.analysis.scenarios import Scenario
from labkit.analysis.tables import Floats
from labkit.core.arms import ARMS
from labkit.core.errors import BadInput

ARM_NAMES = tuple(arm.label for arm in ARMS)


@dataclass(frozen=True, kw_only=True)
class Draws:
    """`logs`: experiment x task x request x arm x repeat, log seconds. `counts`: requests of each task; what
    `logs` has beyond them is to be left out. `truth`: each contrast's log gain over an endless number of tasks.
    """

    logs: Floats
    counts: Floats
    truth: Floats
    arms: tuple[str, ...] = ARM_NAMES
    contrasts: tuple[Contrast, ...] = field(default_factory=lambda: tuple(term_contrasts(ARM_NAMES)))

    def over_requests(self, values: Floats) -> Floats:
        """The mean over each task's own requests, which are the third axis."""
        there = np.arange(values.shape[2]) < self.counts[:, None]
        weights = (there / self.counts[:, None]).reshape(1, *there.shape, *[1] * (values.ndim - 3))
        return np.asarray((values * weights).sum(axis=2), dtype=np.float64)


def draw(scenario: Scenario, tasks: int, experiments: int, seed: int) -> Draws:
    """Simulate. The same arguments give the same draws. Raises BadInput for planted gains with some of the arms."""
    dice = np.random.default_rng(seed)
    counts = np.linspace(*scenario.requests, tasks).round()
    most = int(counts.max())
    gains, truth, louder = _gains(scenario, tasks, experiments, dice)
    own = scenario.request * dice.standard_normal((experiments, tasks, most, len(truth)))
    logs = -((gains[:, :, None, :] + own) @ _coding())[..., None]
    shape = (experiments, tasks, most, len(ARM_NAMES), scenario.repeats)
    unit = np.sqrt(scenario.tails / (scenario.tails - 2))
    noise = scenario.noise / unit * dice.standard_t(scenario.tails, shape)
    noise += scenario.pass_ * dice.standard_normal((experiments, tasks, 1, *shape[3:]))
    starts = 1 if scenario.one_start else scenario.repeats
    block = scenario.block * dice.standard_normal((experiments, 1, 1, len(ARM_NAMES), starts))
    drift = scenario.block * dice.standard_normal((experiments, 1, 1, 1, scenario.repeats))
    slow = np.log(10.0) * (louder > 1)[None, :, None, None, None]
    every = logs + slow + louder[None, :, None, None, None] * noise + block + drift
    return _of_arms(scenario, Draws(logs=every, counts=counts, truth=truth))


def _of_arms(scenario: Scenario, drawn: Draws) -> Draws:
    """What an experiment with some of the arms would have seen: the terms that are left, without gains."""
    if scenario.arms == ARM_NAMES:
        return drawn
    if scenario.gains:
        raise BadInput("gains", scenario.gains, "none where not all arms are measured")
    contrasts = tuple(one for one in term_contrasts(scenario.arms) if one.weights)
    logs = drawn.logs[..., [ARM_NAMES.index(arm) for arm in scenario.arms], :]
    return replace(drawn, logs=logs, truth=np.zeros(len(contrasts)), arms=scenario.arms, contrasts=contrasts)


def _gains(
    scenario: Scenario, tasks: int, experiments: int, dice: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Log gains per experiment, task and term; what they are on average; how noisy each task is."""
    planted = np.log(np.array(list(scenario.terms.values())))
    scale = scenario.spread * np.array([1.0 if ":" not in term else 0.5 for term in scenario.terms])
    shape = (experiments, tasks, len(planted))
    spread = dice.standard_exponential(shape) - 1 if scenario.shape == "skewed" else dice.standard_normal(shape)
    gains, louder = planted + scale * spread, np.ones(tasks)
    if scenario.shape != "outlier":
        return gains, planted, louder
    gains[:, -1] -= planted
    louder[-1] = 3.0
    return gains, planted * (tasks - 1) / tasks, louder


def _coding() -> Floats:
    """Terms x arms: what a log gain of 1 in a term takes off an arm's log time, so that the contrasts give it back."""
    contrasts = term_contrasts(ARM_NAMES)
    weights = np.array([[one.weights[arm] for arm in ARM_NAMES] for one in contrasts])
    return np.asarray(-weights / (weights**2).sum(axis=1, keepdims=True), dtype=np.float64)
