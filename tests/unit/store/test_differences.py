"""What differs between two runs, option by option, and no secret of either."""

from __future__ import annotations

from typing import Any

from labkit.core.masking import MASK
from labkit.store.command_line import options
from labkit.store.differences import run_differences


def engine(*argv: str, role: str = "engine", **env: str) -> dict[str, Any]:
    return {"processes": [{"role": role, "argv": ["serve", *argv], "env": env}], "model_hash": "m"}


def test_equal_fingerprints_do_not_differ():
    known = {"engines": {"k": engine("--x")}, "packages": {"torch": "2"}}
    assert run_differences(known, known) == []
    assert run_differences({}, {}) == []


def test_an_engine_under_another_key_differs_by_its_options():
    a = {"engines": {"k1": engine("--block-size", "32", "--eager", A="1")}}
    b = {"engines": {"k9": engine("--block-size=16", A="2")}}
    assert run_differences(a, b) == [
        ("engines.1 engine.engine.--block-size", "32", "16"),
        ("engines.1 engine.engine.--eager", "on", None),
        ("engines.1 engine.engine.A", "1", "2"),
    ]


def test_each_engine_meets_the_nearest_of_its_roles_and_the_rest_stand_alone():
    a = {"engines": {"k1": engine("--a", "1"), "k2": engine("--b", "1", "--c", "1")}}
    b = {"engines": {"x1": engine("--b", "1", "--c", "2"), "x2": engine("--z", role="prefill")}}
    found = {key: (left, right) for key, left, right in run_differences(a, b)}
    assert found == {
        "engines.1 engine.engine.--c": ("1", "2"),
        "engines.2 engine": ("serve --a 1", None),
        "engines.3 prefill": (None, "serve --z on"),
    }


def test_what_weighs_most_comes_first():
    a = {"python": "3.11", "git": {"commit": "a"}, "model": "x", "packages": {"vllm": "1"}}
    b = {"python": "3.12", "git": {"commit": "b"}, "model": "y", "packages": {"vllm": "2"}}
    assert [one.key for one in run_differences(a, b)] == ["model", "packages.vllm", "git.commit", "python"]


def test_secrets_are_not_shown():
    a = {"engines": {"k1": engine("--api-key", "hunter1", HF_TOKEN="hunter1", X="1")}}
    b = {
        "engines": {
            "k2": engine("--api-key=hunter2", HF_TOKEN="hunter2", X="2"),
            "k3": engine("--api-key", "h3", role="p"),
        }
    }
    said = str(run_differences(a, b))
    assert "hunter" not in said
    assert "h3" not in said
    assert MASK in said


def test_options():
    assert options(["python", "-m", "x", "--a", "1", "2", "--b", "--c=3"]) == {
        "command": "python -m x",
        "--a": "1 2",
        "--b": "on",
        "--c": "3",
    }
