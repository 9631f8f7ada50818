"""Parameters as the command line that asks for them."""

from dataclasses import dataclass, replace

import pytest
from typer.testing import CliRunner

from labkit.cli import build
from labkit.core.errors import BadInput
from labkit.core.records import Record
from labkit.experiments.agent_asked import AgentAsked
from labkit.experiments.asked import Asked
from labkit.experiments.catalogue import (
    DEFAULT_PROFILE,
    EXPERIMENTS,
    QUICK_RECORDING,
    QUICK_STEPS,
    Experiment,
    experiment,
)
from labkit.experiments.words import asked_in_words, command_of, replayed_in_words


def test_each_parameter_is_an_option_of_its_name():
    params = {"arms": ("base", "all"), "steps": 3, "strict": True, "keep": False, "seed": None, "spec_method": "ngram"}
    assert command_of(experiment("quick"), params) == (
        ["run", "quick", "--arms", "base,all", "--steps", "3", "--strict", "--spec-method", "ngram"]
    )


def test_replay_names_its_recording_first():
    assert command_of(experiment("replay"), {"steps": 2, "recording": "r"}) == ["replay", "r", "--steps", "2"]
    with pytest.raises(BadInput, match="recording"):
        command_of(experiment("replay"), {})


def test_a_run_is_said_as_its_command_without_the_defaults():
    asked = Asked(
        profile=DEFAULT_PROFILE, recording=QUICK_RECORDING, arms=("base", "prefix"), steps=QUICK_STEPS, job="j"
    )
    assert asked_in_words("quick", asked.to_dict()) == "labkit run quick --arms base,prefix"
    other = replace(asked, recording="my file.jsonl", strict=True)
    assert asked_in_words("replay", other.to_dict()) == f"labkit replay 'my file.jsonl' --steps {QUICK_STEPS} --strict"
    agent = AgentAsked(task="t", profile=DEFAULT_PROFILE, model="scripted", with_engine=False)
    assert asked_in_words("agent", agent.to_dict()) == "labkit agent --task t --model scripted"
    assert asked_in_words("theirs", {"n": 3, "keep": False, "seed": None, "of": ["a", "b"]}) == "n 3, of a,b"


@dataclass(frozen=True, kw_only=True)
class Mine(Record):
    recordings: tuple[str, ...]
    counts: tuple[int, ...] = (1, 5)
    drift_check: bool = True
    job: str | None = None

    def in_words(self) -> str:
        return f"{len(self.counts)} counts"


MINE = Experiment(
    name="mine", question="?", command=("run", "mine"), takes="no time", record=Mine, defaults={"recordings": ("a",)}
)


def test_an_experiment_takes_the_fields_of_its_own_record():
    assert MINE.params == {"recordings", "counts", "drift_check"}
    assert MINE.all_defaults == {"recordings": ("a",), "counts": (1, 5), "drift_check": True}
    words = command_of(MINE, {"recordings": ("a", "b"), "counts": (3,), "drift_check": False})
    assert words == ["run", "mine", "--recordings", "a,b", "--counts", "3", "--no-drift-check"]
    assert command_of(MINE, {"drift_check": True}) == ["run", "mine", "--drift-check"]
    with pytest.raises(BadInput, match="job"):
        command_of(MINE, {"job": "j"})
    assert MINE.asked({"counts": [2], "job": "j"}) == Mine(recordings=("a",), counts=(2,), job="j")


def test_what_was_replayed_is_said_in_the_records_own_words():
    kept = {"recording": "r", "profile": "p", "arms": ["base"], "seed": 3}
    assert replayed_in_words("replay", kept).startswith("r: natural replay, recorded history")
    assert "seed 3" in replayed_in_words("replay", kept)
    assert replayed_in_words("theirs", {"recordings": ["r", "s"]}) == "r, s"
    assert replayed_in_words("agent", {"task": "t", "profile": "p"}) == ""


def test_every_parameter_is_an_option_of_its_command():
    for known in EXPERIMENTS:
        shown = CliRunner().invoke(build(), [*known.command, "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
        for param in known.params - {known.argument}:
            assert f"--{param.replace('_', '-')}" in shown, known.name
