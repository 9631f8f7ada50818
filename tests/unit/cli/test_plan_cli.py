"""`labkit plan`: commands that can be pasted, JSON that can be read, and only what differs."""

from __future__ import annotations

import json
import shlex

import pytest
import typer
from typer.testing import CliRunner

from labkit.cli import plan as cli
from labkit.core.arms import arm_named
from labkit.core.errors import LabError, UnknownName
from labkit.engines.machine import usable_cores
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile


def run(*words: str) -> str:
    app = typer.Typer()
    cli.register(app)
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_the_printed_commands_are_the_plan_when_a_shell_reads_them() -> None:
    plan = make_plan(load_profile("cpu-smollm2"), arm_named("all"), cores=usable_cores())
    commands = [part for part in run("--arm", "all").replace("\\\n", " ").splitlines() if part and part[0] != "#"]
    assert len(commands) == len(plan.processes) == 3
    for command, process in zip(commands, plan.processes, strict=True):
        words = [f"{name}={value}" for name, value in process.env.items()] + list(process.argv)
        assert shlex.split(command) == words


def test_json_has_every_process() -> None:
    said = json.loads(run("--arm", "pd", "--json"))
    assert (said["arm"], said["method"]) == ("pd", None)
    assert [process["role"] for process in said["processes"]] == ["prefill", "decode", "router"]


def test_diff_prints_only_what_differs() -> None:
    said = json.loads(run("--arm", "prefix", "--diff", "base", "--json"))
    assert {row["setting"] for row in said} == {"--enable-prefix-caching", "--no-enable-prefix-caching"}
    assert "--block-size" not in run("--arm", "prefix", "--diff", "base")
    assert "the same engine" in run("--arm", "prefix", "--diff", "prefix")


def test_profiles_and_methods_are_listed() -> None:
    assert "mi300x-8-qwen3-235b" in run("--profiles")
    assert "eagle3 (default)" in run("--methods", "--profile", "mi300x-8-qwen3-235b")


def test_at_eighty_columns_no_name_of_a_drafter_or_its_model_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = "mi300x-8-qwen3-30b-a3b"
    said = run("--methods", "--profile", name)
    lines = [line.strip() for line in said.splitlines()]
    for method, drafter in load_profile(name).layers.speculation.methods.items():
        assert any(line.split(":")[0].split(" ")[0] == method for line in lines)
        for setting, value in drafter.config.items():
            assert f"{setting} {value if isinstance(value, str) else json.dumps(value)}" in lines
    assert "…" not in said


@pytest.mark.parametrize("profile", ["/nowhere/mine.toml", "mine.toml", "./mine.toml+block-size=8", "folder/mine"])
def test_a_path_where_no_file_is_says_so(profile: str) -> None:
    with pytest.raises(LabError, match=r"no such file: .*mine") as error:
        run("--profile", profile)
    assert "labkit plan --profiles" in error.value.hint
    assert "cpu-smollm2" not in str(error.value)


@pytest.mark.parametrize("words", [("--arm", "prefx"), ("--profile", "none"), ("--spec-method", "ngrm")])
def test_unknown_names_are_refused(words: tuple[str, str]) -> None:
    with pytest.raises(UnknownName):
        run(*words)


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        (
            "mi300x-8-qwen3-235b+blok-size=16",
            "blok-size is not in the profile: passed on as it is; did you mean block-size?",
        ),
        ("mi300x-8-qwen3-235b+read+swap-space=4", "swap-space is not in the profile: passed on as it is"),
        ("mi300x-8-qwen3-235b+read+block-size=16", ""),
        ("mi300x-8-qwen3-235b+kv-fp8", ""),
        ("cpu-smollm2", ""),
    ],
)
def test_a_flag_that_the_profile_has_not_is_passed_on_and_said(profile: str, words: str) -> None:
    app = typer.Typer()
    cli.register(app)
    result = CliRunner().invoke(app, ["--profile", profile, "--json"], catch_exceptions=False)
    assert (result.exit_code, result.stderr.strip()) == (0, words)
    assert json.loads(result.stdout)["profile"] == profile


def test_a_diff_shows_whole_values_with_their_ports() -> None:
    said = run("--arm", "pd", "--diff", "base")
    assert "{port:" not in said
    lines = said.splitlines()
    at = next(number for number, line in enumerate(lines) if line.endswith("  --kv-transfer-config"))
    arm, value = lines[at + 1].split(maxsplit=1)
    assert arm == "pd"
    assert json.loads(value)["kv_connector"]
    assert lines[at + 2].split() == ["base", "-"]
    assert "--port" not in said
