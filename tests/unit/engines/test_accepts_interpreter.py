"""Which Python is asked: this one for the CPU profile, that of the `vllm` on PATH for the others, none without one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from labkit.engines.accepts import engine_python
from labkit.engines.profiles import load_profile


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "vllm"
    path.write_text("")
    path.chmod(0o755)
    return path


def asked() -> str | None:
    return engine_python(load_profile("mi300x-8-qwen3-235b"))


def test_the_cpu_profile_asks_this_interpreter() -> None:
    assert engine_python(load_profile("cpu-smollm2")) == sys.executable


def test_without_the_program_there_is_nobody_to_ask(program: Path) -> None:
    program.unlink()
    assert asked() is None


@pytest.mark.parametrize(
    ("first_lines", "found"),
    [
        ("#!/opt/venv/bin/python3.12\nimport sys\n", "/opt/venv/bin/python3.12"),
        ("#!/bin/sh\n'''exec' \"/a/very/long/path/python3\" \"$0\" \"$@\"\n' '''\n", "/a/very/long/path/python3"),
        ("#!/bin/sh\necho hello\n", None),
        ("#!/bin/bash\necho hello\n", None),
        ("\x7fELF", None),
        ("", None),
    ],
)
def test_the_first_lines_say_who_runs_it(program: Path, first_lines: str, found: str | None) -> None:
    program.write_text(first_lines)
    assert asked() == found


def test_env_is_asked_for_the_python_on_path(program: Path) -> None:
    program.write_text("#!/usr/bin/env python3\n")
    assert asked() is None
    shutil.copy(shutil.which("true") or "/bin/true", program.parent / "python3")
    assert asked() == str(program.parent / "python3")
