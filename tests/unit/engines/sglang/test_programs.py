"""SGLang runs in a Python of its own: one that has not got it is named before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.core.arms import arm_named
from labkit.core.errors import EngineError
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.programs import require_programs

PLAN = make_plan(load_profile("mi300x-8-qwen3-235b-sglang"), arm_named("base"))


def python3(folder: Path, lacks: str) -> None:
    """A `python3` that finds every package but one."""
    program = folder / "python3"
    program.write_text(f'#!/bin/sh\ntest "$3" != {lacks}\n', encoding="utf-8")
    program.chmod(0o755)


@pytest.mark.parametrize("lacks", ["sglang", "smg"])
def test_the_package_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str) -> None:
    python3(tmp_path, lacks)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(EngineError, match=rf"has no {lacks}\b"):
        require_programs(PLAN)


def test_a_python_that_has_both_is_let_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python3(tmp_path, "nothing")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    require_programs(PLAN)


def test_without_any_python3_the_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="python3"):
        require_programs(PLAN)
