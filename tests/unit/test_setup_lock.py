"""The lock and the commands: every package pinned by hash, nothing that only one machine could install from."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "requirements"
sys.path.insert(0, str(REQUIREMENTS))

from lock import block, stale_torch  # noqa: E402

LOCKS = ("cpu.txt", "torch-cpu.txt", "uv.txt")


def _pins(name: str) -> dict[str, str]:
    """Package -> its version and hashes."""
    blocks = re.split(r"(?m)^(?=[a-zA-Z0-9])", (REQUIREMENTS / name).read_text(encoding="utf-8"))
    return {text.partition("==")[0]: text.partition("==")[2] for text in blocks if "==" in text}


def _version(pin: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", pin.split()[0].split("+")[0]))


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_has_a_hash(name: str):
    assert _pins(name)
    assert [package for package, pin in _pins(name).items() if "--hash=sha256:" not in pin] == []


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_host_and_no_path(name: str):
    assert re.findall(r"https?:|--index|--find-links|(?<![\w./])/[a-z]+/", (REQUIREMENTS / name).read_text()) == []


def test_torch_is_locked_once_and_for_each_python():
    assert "torch" not in _pins("cpu.txt")
    assert _pins("torch-cpu.txt")["torch"].count("--hash") == 3
    assert stale_torch((REQUIREMENTS / "cpu.in").read_text(), (REQUIREMENTS / "torch-cpu.txt").read_text()) == ""


def test_a_torch_that_moved_on_is_noticed():
    assert "torch==2.14.0+cpu" in stale_torch("torch==2.14.0+cpu\n", "torch==2.13.0+cpu \\\n")


def test_uv_is_the_one_of_the_lock():
    text = (REQUIREMENTS / "cpu.txt").read_text(encoding="utf-8")
    assert (REQUIREMENTS / "uv.txt").read_text(encoding="utf-8") == block(text, "uv")


def test_what_builds_the_project_is_in_the_lock():
    assert _version(_pins("cpu.txt")["setuptools"]) >= (77,)


def test_everything_that_the_project_asks_for_is_in_the_lock():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [wanted for name, group in project["optional-dependencies"].items() if name != "amd" for wanted in group]
    names = {re.split(r"[=><~! \[]", wanted)[0] for wanted in [*project["dependencies"], *extras]}
    assert names - set(_pins("cpu.txt")) == set()


def _make(*arguments: str) -> str:
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_make_alone_lists_every_command():
    targets = re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert re.findall(r"(?m)^  make (\w+)", _make()) == targets
    assert set(targets) >= {"setup", "demo", "test", "app", "lab", "check", "bench", "lock", "clean"}


def test_demo_sets_up_fetches_and_measures_in_this_order():
    told = _make("-n", "-W", "requirements/cpu.txt", "demo")
    steps = ["setup_venv.py", "labkit models fetch", "labkit run quick", "make app"]
    assert sorted(steps, key=told.index) == steps


def test_clean_ends_the_engines_before_it_removes_the_command_that_can():
    told = _make("-n", "clean")
    assert told.index("labkit down --all") < told.index("rm -rf .venv")


def test_notebooks_listen_on_this_machine_only():
    assert "--ip=127.0.0.1" in _make("-n", "lab")
