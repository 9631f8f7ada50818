"""The command line as a whole: help for everything, errors as one sentence and a next step."""

import subprocess
import sys

import pytest
import typer

from labkit.cli import app, build


def _commands(group: typer.main.TyperCommand, path: tuple[str, ...] = ()):  # type: ignore[name-defined]
    for name, command in getattr(group, "commands", {}).items():
        yield (*path, name), command
        yield from _commands(command, (*path, name))


COMMANDS = dict(_commands(typer.main.get_command(build())))


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_says_what_it_does(path: tuple[str, ...]):
    assert COMMANDS[path].help, f"labkit {' '.join(path)} has no help"


@pytest.mark.parametrize("path", [p for p in COMMANDS if not hasattr(COMMANDS[p], "commands")], ids=" ".join)
def test_every_command_shows_an_example(path: tuple[str, ...]):
    text = f"{COMMANDS[path].help} {COMMANDS[path].epilog or ''}"
    assert f"labkit {' '.join(path)}" in text, f"labkit {' '.join(path)} --help shows no example"


def test_building_twice_registers_once():
    assert build() is app
    before = len(typer.main.get_command(app).commands)
    assert len(typer.main.get_command(build()).commands) == before


def test_an_error_is_a_sentence_and_a_next_step_not_a_traceback():
    done = subprocess.run(
        [sys.executable, "-m", "labkit", "plan", "--profile", "cpu-smolm2", "--arm", "base"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "cpu-smollm2" in done.stderr
    assert "Traceback" not in done.stderr


def test_importing_labkit_is_light():
    heavy = ["vllm", "torch", "streamlit", "IPython", "pandas"]
    code = f"import sys, labkit.cli; print(set({heavy}) & set(sys.modules) or 'light')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "light"
