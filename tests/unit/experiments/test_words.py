"""Parameters as the command line that asks for them."""

import pytest
from typer.testing import CliRunner

from labkit.core.errors import BadInput
from labkit.experiments.catalogue import experiment
from labkit.experiments.words import command_of


def test_each_parameter_is_an_option_of_its_name():
    params = {"arms": ("base", "all"), "steps": 3, "strict": True, "keep": False, "seed": None, "spec_method": "ngram"}
    assert command_of(experiment("quick"), params) == (
        ["run", "quick", "--arms", "base,all", "--steps", "3", "--strict", "--spec-method", "ngram"]
    )


def test_replay_names_its_recording_first():
    assert command_of(experiment("replay"), {"steps": 2, "recording": "r"}) == ["replay", "r", "--steps", "2"]
    with pytest.raises(BadInput, match="recording"):
        command_of(experiment("replay"), {})


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
