"""The named experiments that the command line, the notebooks and the dashboard offer: each is a question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from labkit.core.names import pick

QUICK_ARMS = ("base", "prefix", "spec", "prefix+spec", "pd", "all")
QUICK_STEPS = 8
QUICK_RECORDING = "ranks-that-jump-live"
"""Decided by the default model itself, so that its natural replies are as short as they were recorded."""
DEFAULT_PROFILE = "cpu-smollm2"


@dataclass(frozen=True)
class Experiment:
    """`question`: what it answers; `command`: the `labkit` words that start it.

    `params`: fields of Asked that it takes; `defaults`: their values where they are not those of Asked.
    """

    name: str
    question: str
    command: tuple[str, ...]
    takes: str
    params: frozenset[str]
    defaults: dict[str, Any] = field(default_factory=dict)


_QUICK_PARAMS = frozenset({"profile", "recording", "arms", "steps", "spec_method", "strict", "keep", "seed"})
_ALL_PARAMS = _QUICK_PARAMS | {"repeats", "drift_check", "history", "mode", "gaps"}

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        name="quick",
        question="What does each layer do to the first steps of one agent's run, on this machine, now?",
        command=("run", "quick"),
        takes="under 12 minutes on two cores",
        params=_QUICK_PARAMS,
        defaults={"profile": DEFAULT_PROFILE, "arms": QUICK_ARMS, "steps": QUICK_STEPS},
    ),
    Experiment(
        name="replay",
        question="The same for any recording, any arms, any number of repeats, in block-randomised order if wanted.",
        command=("replay",),
        takes="arms x repeats x the length of the recording",
        params=_ALL_PARAMS,
        defaults={"profile": DEFAULT_PROFILE, "arms": ("base", "prefix")},
    ),
)


def experiment(name: str) -> Experiment:
    """The experiment with this name. Raises UnknownName."""
    return pick("experiment", name, {known.name: known for known in EXPERIMENTS}, "labkit run")
