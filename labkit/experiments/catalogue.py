"""The named experiments that the command line, the notebooks and the dashboard offer: each is a question.

An experiment's parameters are the fields of its record (`Asked`, or one of its own), and each field is an option of its
command: what `run.json` keeps, what a job is started with and what is shown to copy come from that one declaration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from labkit.core.names import pick
from labkit.core.records import Record
from labkit.experiments.asked import Asked
from labkit.experiments.capacity_asked import CapacityAsked
from labkit.experiments.confirm_asked import ConfirmAsked
from labkit.experiments.factorial import FactorialAsked
from labkit.experiments.interference import InterferenceAsked
from labkit.experiments.live_asked import LiveAsked
from labkit.experiments.speculation import SpeculationAsked
from labkit.experiments.steps import StepsAsked

QUICK_ARMS = ("base", "prefix", "spec", "prefix+spec", "pd", "all")
QUICK_STEPS = 8
QUICK_RECORDING = "ranks-that-jump-live"
"""Decided by the default model itself, so that its natural replies are as short as they were recorded."""
DEFAULT_PROFILE = "cpu-smollm2"
_NEVER = frozenset({"job"})
"""Fields that whoever starts a job sets."""


@dataclass(frozen=True)
class Experiment:
    """`question`: what it answers; `command`: the `labkit` words that start it; `record`: what it may be asked.

    `only`: the fields that are parameters; None: all. `defaults`: their values where they are not those of the record,
    for a field without a default above all. `argument`: the field that is said without a flag, right after the command.
    """

    name: str
    question: str
    command: tuple[str, ...]
    takes: str
    record: type[Record] = Asked
    only: frozenset[str] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    argument: str | None = None

    @property
    def params(self) -> frozenset[str]:
        """Fields of the record that may be asked for."""
        names = {each.name for each in fields(self.record)} - _NEVER  # type: ignore[arg-type]
        return frozenset(names if self.only is None else names & self.only)

    @property
    def all_defaults(self) -> dict[str, Any]:
        """What each parameter is when nobody says; a parameter that must be named is not here."""
        own = {each.name: _default(each) for each in fields(self.record)}  # type: ignore[arg-type]
        known = {name: value for name, value in own.items() if value is not MISSING} | dict(self.defaults)
        return {name: value for name, value in known.items() if name in self.params}

    def asked(self, kept: Mapping[str, Any]) -> Record:
        """What `run.json` keeps under `asked`, as the record. Raises TypeError for a run that lacks a field."""
        whole = {**self.all_defaults, **kept}
        return self.record.from_dict({k: tuple(v) if isinstance(v, list) else v for k, v in whole.items()})


def _default(declared: Any) -> Any:
    return declared.default if declared.default_factory is MISSING else declared.default_factory()


_QUICK_PARAMS = frozenset({"profile", "recording", "arms", "steps", "spec_method", "strict", "keep", "seed"})

EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        name="quick",
        question="What does each layer do to the first steps of one agent's run, on this machine, now?",
        command=("run", "quick"),
        takes="under 12 minutes on two cores",
        only=_QUICK_PARAMS,
        defaults={
            "profile": DEFAULT_PROFILE,
            "recording": QUICK_RECORDING,
            "arms": QUICK_ARMS,
            "steps": QUICK_STEPS,
        },
    ),
    Experiment(
        name="replay",
        question="The same for any recording, any arms, any number of repeats, in block-randomised order if wanted.",
        command=("replay",),
        takes="arms x repeats x the length of the recording",
        defaults={"profile": DEFAULT_PROFILE, "arms": ("base", "prefix")},
        argument="recording",
    ),
    Experiment(
        name="factorial",
        question="Which layers pay off, alone and together, on the same requests? Gains with their intervals.",
        command=("run", "factorial"),
        takes="about 40 minutes on two cores; says so before it starts, and can be resumed",
        record=FactorialAsked,
        defaults={"profile": DEFAULT_PROFILE},
    ),
    Experiment(
        name="steps",
        question="How does the cost of an agent grow with its steps, and what does prefix caching leave of it?",
        command=("run", "steps"),
        takes="about 8 minutes on two cores",
        record=StepsAsked,
        defaults={"profile": DEFAULT_PROFILE},
    ),
    Experiment(
        name="speculation",
        question="Which drafter guesses what: by kind of step and depth of turn, and where does it cost time?",
        command=("run", "speculation"),
        takes="about 5 minutes a drafter on two cores",
        record=SpeculationAsked,
        defaults={"profile": DEFAULT_PROFILE},
    ),
    Experiment(
        name="interference",
        question="How much do agents slow each other down, and does splitting prefill from decode help?",
        command=("run", "interference"),
        takes="arms x levels x a window of a minute, and the engines' starts",
        record=InterferenceAsked,
        defaults={"profile": DEFAULT_PROFILE},
    ),
    Experiment(
        name="capacity",
        question="How many agents can an engine serve well enough?",
        command=("run", "capacity"),
        takes="arms x up to 6 windows of a minute, and the engines' starts",
        record=CapacityAsked,
        defaults={"profile": DEFAULT_PROFILE},
    ),
    Experiment(
        name="confirm",
        question="Does the faster arm still solve as many tasks? Live agents in two arms, judged by hidden checks.",
        command=("run", "confirm"),
        takes="about a minute an attempt on two cores",
        record=ConfirmAsked,
        defaults={"profile": DEFAULT_PROFILE},
    ),
    Experiment(
        name="live",
        question="What changes when a layer is switched on or off while agents are at work?",
        command=("run", "live"),
        takes="arms x laps x the recording with its gaps, and the engines' starts; or until it is stopped",
        record=LiveAsked,
        defaults={"profile": DEFAULT_PROFILE},
    ),
)


def experiment(name: str) -> Experiment:
    """The experiment with this name. Raises UnknownName."""
    return pick("experiment", name, {known.name: known for known in EXPERIMENTS}, "labkit run")
