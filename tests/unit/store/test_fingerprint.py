"""What a run ran on; the git part is checked against git itself."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.store.fingerprint import PACKAGES, difference, engine_fingerprint, host_fingerprint
from labkit.store.git import git_state


def test_this_machine():
    found = host_fingerprint()
    assert found["python"] == platform.python_version()
    assert found["cpu"]["threads"] == os.cpu_count()
    assert found["memory_bytes"] > 2**28
    assert set(found["packages"]) == set(PACKAGES)
    assert json.loads(json.dumps(found)) == found
    text = json.dumps(found)
    assert str(Path.home()) not in text
    assert platform.node() not in text or platform.node() in platform.release()


def test_versions_are_read_without_importing_the_engine():
    program = "import sys; from labkit.store.fingerprint import host_fingerprint as f; f(); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "vllm", "transformers", "nixl"} & set(modules)


def test_differences_are_named():
    a = {"cpu": {"cores": 2, "flags": ["avx2"]}, "packages": {"torch": "2.12", "vllm": None}, "same": 1}
    b = {"cpu": {"cores": 4, "flags": ["avx2"]}, "packages": {"torch": "2.13", "vllm": None}, "same": 1, "git": None}
    assert difference(a, b) == [("cpu.cores", 2, 4), ("packages.torch", "2.12", "2.13")]
    assert difference(a, a) == []


def test_engines_differ_by_argument_and_by_role():
    one = engine_fingerprint(
        [{"role": "engine", "argv": ["serve", "--x"], "env": {"A": "1"}, "port": 1}], model_hash="h"
    )
    two = engine_fingerprint(
        [{"role": "engine", "argv": ("serve",), "env": {"A": "2"}, "port": 2}], model_hash="h", chat_template="{{ x }}"
    )
    assert [d.key for d in difference(one, two)] == ["chat_template_sha256", "processes.0.argv", "processes.0.env.A"]
    assert "port" not in one["processes"][0]


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", *identity, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed: what labkit reads from .git cannot be compared with it")
    git(tmp_path, "init", "-q")
    for name in ("a.txt", "sub folder/größe.txt", *("x" * length for length in range(70, 79))):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("a.txt")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    return tmp_path


def test_a_clean_tree_and_its_commit(repository: Path):
    assert git_state(repository) == {"commit": git(repository, "rev-parse", "HEAD"), "dirty": False}
    git(repository, "pack-refs", "--all")
    assert git_state(repository) == {"commit": git(repository, "rev-parse", "HEAD"), "dirty": False}
    git(repository, "checkout", "-q", "--detach")
    assert git_state(repository)["commit"] == git(repository, "rev-parse", "HEAD")
    (repository / "untracked").write_text("")
    assert git_state(repository)["dirty"] is False


@pytest.mark.parametrize("change", ["edit", "delete", "replace link"])
def test_a_changed_tracked_file_is_dirty(repository: Path, change: str):
    if change == "edit":
        (repository / "sub folder" / "größe.txt").write_text("longer than before, and later")
    elif change == "delete":
        (repository / "a.txt").unlink()
    else:
        (repository / "link").unlink()
        (repository / "link").symlink_to("nowhere at all")
    assert git(repository, "status", "--porcelain") != ""
    assert git_state(repository)["dirty"] is True


def test_a_worktree_and_no_tree(repository: Path, tmp_path_factory: pytest.TempPathFactory):
    other = tmp_path_factory.mktemp("worktree") / "tree"
    git(repository, "worktree", "add", "-q", "-b", "side", str(other))
    assert git_state(other) == {"commit": git(other, "rev-parse", "HEAD"), "dirty": False}
    assert git_state(tmp_path_factory.mktemp("plain")) is None


def test_an_index_of_another_format_is_not_known_to_be_clean(repository: Path):
    git(repository, "update-index", "--index-version", "4")
    assert git_state(repository)["dirty"] is None
