"""Where no SGLang can be asked, nothing is claimed: not tried, with the reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from labkit.core.arms import ARMS
from labkit.core.errors import BadInput
from labkit.engines.plan import make_plan
from labkit.engines.profiles import load_profile
from labkit.engines.sglang.accepts import ask, sglang_python

PLANS = [make_plan(load_profile("mi300x-8-qwen3-235b-sglang"), arm) for arm in ARMS]


def script(folder: Path, text: str) -> str:
    """A program that does this in place of Python with SGLang."""
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def test_no_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABKIT_SGLANG_PYTHON", raising=False)
    told = ask(PLANS, {}, python=sglang_python())
    assert (told.version, told.platform) == (None, None)
    assert {each.status for each in told.verdicts.values()} == {"not tried"}
    assert "LABKIT_SGLANG_PYTHON" in told.verdicts[PLANS[0].key].said


def test_a_python_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_SGLANG_PYTHON", "/nowhere/python")
    with pytest.raises(BadInput, match="LABKIT_SGLANG_PYTHON"):
        sglang_python()


def test_a_python_without_sglang() -> None:
    told = ask(PLANS[:1], {}, python=sys.executable)
    assert told.verdicts[PLANS[0].key].said == "SGLang is not installed in that Python"


def test_a_python_that_fails_or_takes_too_long(tmp_path: Path) -> None:
    failed = ask(PLANS[:1], {}, python=script(tmp_path, "echo no such thing >&2; exit 3")).verdicts[PLANS[0].key]
    assert (failed.status, failed.role) == ("not tried", "engine-0")
    assert "exit code 3: no such thing" in failed.said
    late = ask(PLANS[:1], {}, python=script(tmp_path, "sleep 30"), limit_s=0.2).verdicts[PLANS[0].key]
    assert "no answer within 0.2 s" in late.said
