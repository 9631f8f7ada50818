"""`labkit doctor`: what it prints, what it ends with, and what it says about prompts."""

from __future__ import annotations

import json

import pytest
import typer
from healthy import facts
from rich.console import Console
from typer.testing import CliRunner

from labkit.cli import doctor as cli
from labkit.core.errors import UnknownName
from labkit.doctor.examine import examine
from labkit.doctor.records import Report


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    for variable in ("RUNS", "STATE", "MODELS"):
        monkeypatch.setenv(f"LABKIT_{variable}", str(tmp_path / variable.lower()))


def run(*words: str, columns: int = 100):
    app = typer.Typer()
    cli.register(app)
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(app, list(words), catch_exceptions=False)


def test_what_fails_comes_first_and_ends_with_status_3():
    done = run(columns=80)
    assert done.exit_code == 3  # the weights are not in this test's folder
    lines = done.stdout.splitlines()
    assert lines[0] == "environment"
    assert lines[1].startswith("  ✗ Weights")
    assert "labkit models fetch smollm2-135m-instruct" in done.stdout
    assert "Give a recording: labkit doctor" in done.stdout.replace("\n", " ")
    assert max(map(len, lines)) <= 80


def test_the_report_as_json_can_be_read_back():
    done = run("--json")
    report = Report.from_dict(json.loads(done.stdout))
    assert report.profile == "cpu-smollm2"
    assert report.failed == (done.exit_code == 3)


def test_prompts_of_a_recording_and_of_another_agents_requests(tmp_path):
    assert "extend the one before, byte for byte" in " ".join(run("--recording", "quoted-newlines").stdout.split())
    sent = tmp_path / "sent.jsonl"
    bodies = [{"messages": [{"role": "system", "content": f"It is 12:0{n}."}]} for n in range(2)]
    sent.write_text("".join(json.dumps(body) + "\n" for body in bodies))
    done = run("--recording", str(sent))
    assert done.exit_code == 3
    assert "a time or date that changes" in " ".join(done.stdout.split())


def test_names_that_are_not_there_are_refused():
    for words in (("--profile", "no-such"), ("--recording", "no-such")):
        with pytest.raises(UnknownName):
            run(*words)


def test_a_healthy_machine_ends_with_status_0_and_a_broken_one_with_3(capsys):
    cli.say(examine(facts()))
    assert "✗" not in capsys.readouterr().out
    with pytest.raises(typer.Exit) as ended:
        cli.say(examine(facts(libnuma=False)))
    assert ended.value.exit_code == 3


def test_help_has_an_example():
    assert "labkit doctor --recording" in run("--help").stdout


def test_every_status_has_a_sign(capsys):
    cli._print(examine(facts(libnuma=False, shm_free=1, processor=facts().processor)), Console(width=100))
    said = capsys.readouterr().out
    assert "  ✗ libnuma" in said
    assert "  ! /dev/shm" in said
    assert said.splitlines()[-1].startswith("1 failed, 1 to look at, ")
