"""`labkit plan --as`: to the terminal, to a folder, as JSON; and the lists beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer
import yaml
from typer.testing import CliRunner

from labkit.cli import plan as cli
from labkit.core.errors import LabError, UnknownName

SPLIT = ("--profile", "mi300x-8-qwen3-235b", "--arm", "pd")


def run(*words: str) -> str:
    app = typer.Typer(rich_markup_mode="rich")
    cli.register(app)
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize(
    ("form", "name", "starts"),
    [
        ("shell", "commands.sh", "vllm serve"),
        ("docker", "docker.sh", "docker run"),
        ("compose", "compose.yaml", "services:"),
        ("k8s", "k8s.yaml", "kind: Deployment"),
        ("ray-serve", "ray_serve.yaml", "import_path: ray.serve.llm"),
    ],
)
def test_a_form_is_printed_or_written_with_the_same_text(tmp_path: Path, form: str, name: str, starts: str) -> None:
    printed = run(*SPLIT, "--as", form)
    assert starts in printed
    said = run(*SPLIT, "--as", form, "--out", str(tmp_path / "new" / "folder"))
    path = tmp_path / "new" / "folder" / name
    assert str(path) in said
    assert path.read_text() == printed


def test_what_is_there_is_not_replaced_unless_forced(tmp_path: Path) -> None:
    (tmp_path / "k8s.yaml").write_text("mine")
    with pytest.raises(LabError, match=r"k8s\.yaml: there already"):
        run(*SPLIT, "--as", "k8s", "--out", str(tmp_path))
    assert (tmp_path / "k8s.yaml").read_text() == "mine"
    run(*SPLIT, "--as", "k8s", "--out", str(tmp_path), "--force")
    assert (tmp_path / "k8s.yaml").read_text() != "mine"


def test_what_cannot_be_written_is_said_with_its_path_and_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "docker.sh").mkdir()
    for out, named in ((tmp_path / "file", "file"), (Path("/proc/x"), "/proc/x")):
        with pytest.raises(LabError, match=f"{named}.*cannot be written") as refused:
            run(*SPLIT, "--as", "docker", "--out", str(out))
        assert "--out" in refused.value.hint
    with pytest.raises(LabError, match=r"docker\.sh: cannot be written: Is a directory"):
        run(*SPLIT, "--as", "docker", "--out", str(tmp_path), "--force")


def test_files_as_json() -> None:
    (file,) = json.loads(run(*SPLIT, "--as", "compose", "--json"))
    assert file["name"] == "compose.yaml"
    assert set(yaml.safe_load(file["text"])["services"]) == {"router", "prefill", "decode"}


def test_an_unknown_form_and_a_difference_as_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="docker"):
        run(*SPLIT, "--as", "doker")
    for words in (("--as", "k8s"), ("--out", str(tmp_path))):
        with pytest.raises(LabError, match="makes no files"):
            run(*SPLIT, "--diff", "base", *words)


def test_profiles_are_listed_with_their_machines() -> None:
    rows = {line.split("│")[1].strip(): line for line in run("--profiles").splitlines() if line.startswith("│")}
    assert re.search(r"│ amd: 8 x MI300X +│", rows["mi300x-8-qwen3-235b"])
    assert re.search(r"│ nvidia: 1 x H200 +│", rows["h200-1-qwen3-8b"])
    assert re.search(r"│ cpu +│", rows["cpu-smollm2"])


def test_variants_are_listed_by_the_names_that_a_profile_takes() -> None:
    said = run("--variants", "--profile", "mi300x-8-qwen3-235b")
    assert "mi300x-8-qwen3-235b+read" in said
    assert run("--profile", "mi300x-8-qwen3-235b+read", "--arm", "pd")
    assert "declares no variants" in run("--variants", "--profile", "cpu-smollm2")


def test_help_shows_examples() -> None:
    said = run("--help")
    assert "--as k8s --out deploy" in said
    assert "shell, docker, compose, k8s, ray-serve" in said
