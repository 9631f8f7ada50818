"""Parameters as the command line that asks for them."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from labkit.core.errors import BadInput
from labkit.experiments.agent_asked import AgentAsked
from labkit.experiments.asked import Asked
from labkit.experiments.catalogue import DEFAULT_PROFILE, QUICK_RECORDING, QUICK_STEPS, experiment
from labkit.experiments.words import asked_in_words, command_of


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


@pytest.mark.parametrize("name", ["quick", "replay"])
def test_every_parameter_of_an_experiment_is_an_option_of_its_command(name: str):
    import typer

    from labkit.cli import replay, run

    app = typer.Typer()
    replay.register(app)
    run.register(app)
    known = experiment(name)
    shown = CliRunner().invoke(app, [*known.command, "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    for param in known.params - {"recording"}:
        assert f"--{param.replace('_', '-')}" in shown
